import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Entry, JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { startExecutorServer } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";
import { assertOutcomes, outcomeTypes } from "../support/outcomes.ts";

/* Results as other people's executors give them: what can be read counts, and nothing that was done counts as undone. */

const HANDSHAKE: JsonObject = {
  initial_prompt: "build",
  known_tools: ["Shell"],
  shoe_size: 43,
  client_version: { major: 2 },
  working_directory: 7,
  extensions: "all",
  open_actions: "none",
};

interface Told {
  readonly executor: ForeignExecutor;
  readonly order: JsonObject;
  readonly entries: () => Promise<readonly Entry[]>;
}

/** An executor with a handshake full of surprises, that was ordered to run something. */
async function ordered(t: TestContext): Promise<Told> {
  const shell = calls({ id: "call-shell", name: "shell", input: JSON.stringify({ command: "make" }) });
  const end = await startExecutorServer(t, shell, text("Built."));
  const executor = await ForeignExecutor.dial(end);
  t.after(() => executor[Symbol.asyncDispose]());
  const ack = await executor.does(folderOf({})).shake(HANDSHAKE);
  const { payload } = await executor.hears("tool_call_request");
  executor.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: true });
  const { payload: order } = await executor.hears("run_tool");
  return { executor, order, entries: () => end.entries(textOrEmpty(ack, "run_id")) };
}

const RESULTS: readonly (readonly [string, JsonObject, string, RegExp])[] = [
  ["an unknown field", { status: "success", result: "built", execution_time_ms: 5 }, "action.finished", /built/],
  ["times of a wrong type", { status: "success", result: "built", duration_ms: "5 ms" }, "action.finished", /built/],
  [
    "many wrong types",
    { status: "success", result: "built", exit_code: "0", truncated: 1, code: 9, stderr: [], ended: "2026-01-01" },
    "action.finished",
    /built/,
  ],
  [
    "an exit code and another status",
    { status: "completed", exit_code: 0, stdout: "built" },
    "action.finished",
    /built/,
  ],
  [
    "an error among rubbish",
    { status: "error", error: "no make", exit_code: "x", took: {} },
    "action.failed",
    /no make/,
  ],
  [
    "an error whose text is in the result",
    { status: "error", error: 5, result: "no make" },
    "action.failed",
    /no make/,
  ],
  [
    "an error that ends with 0",
    { status: "error", error: "no make", exit_code: 0, stdout: "", stderr: "" },
    "action.finished",
    /exitCode":null[\s\S]*no make/,
  ],
];

for (const [what, fields, outcome, words] of RESULTS)
  test(`004-19 a result with ${what} counts for what it says`, async (t) => {
    const { executor, order, entries } = await ordered(t);
    executor.say("tool_result", { tool_id: order["tool_id"] ?? "", ...fields });
    await executor.hears("task_completed");
    const all = await entries();
    assert.deepEqual(outcomeTypes(all), [outcome, "run.finished"]);
    assert.match(JSON.stringify(all.find(({ event }) => event.type === outcome)), words);
    assertOutcomes(all);
  });

test("F37 004-25 a result that cannot be read is asked about, and a late one that can settles the question", async (t) => {
  const { executor, order, entries } = await ordered(t);
  const tool = order["tool_id"] ?? "";
  executor.say("tool_result", { tool_id: tool, status: "perhaps" });
  const { payload: asked } = await executor.hears("input_request");
  executor.say("tool_result", { tool_id: tool, status: "success", result: "built" });
  await executor.hears("task_completed");
  const closed = executor.all("status_update").map((update) => update["closed_request_id"]);
  assert.ok(closed.includes(asked["input_request_id"]), "the person is told that the question is closed");
  executor.say("user_input", { input_request_id: asked["input_request_id"] ?? "", response: "stop" });
  assert.equal((await executor.hears("error")).payload["code"], "CONFLICT", "nothing is asked any more");
  const all = await entries();
  assert.deepEqual(outcomeTypes(all), ["action.unknown", "action.finished", "run.finished"]);
  assert.equal(executor.all("run_tool").length, 1, "an executor without a ledger is never asked twice");
  assertOutcomes(all);
});
