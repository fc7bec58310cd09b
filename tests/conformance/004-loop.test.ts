import assert from "node:assert/strict";
import { test } from "node:test";
import { questionId } from "@vidro/core/run";
import type { Entry, JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { startExecutorServer, messagesOfCall } from "../support/executor-server.ts";
import type { ExecutorServer } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";
import type { ToolBehaviour } from "../support/foreign-executor.ts";

/* 004 §3 §4 §5B: the brain decides, the executor does, a person is asked, and an error is planned with. */

let made = 0;
const call = (name: string, input: JsonObject): FakeReply =>
  calls({ id: `call-${++made}`, name, input: JSON.stringify(input) });
const shell = (command: string): FakeReply => call("shell", { command });

const TOOLS = ["GetWorkingDirectory", "ReadFolder", "ReadFile", "WriteFile", "Shell"];
const look = folderOf({ "main.py": "print(1)" });

/** What the model was told last. */
function lastTold({ model }: ExecutorServer): string {
  return messagesOfCall(model).at(-1)?.content ?? "";
}

const kinds = (entries: readonly Entry[]): readonly string[] => entries.map(({ event }) => event.type);

test("004-17 004-18 a shell command runs under an id that comes back with its output and exit code", async (t) => {
  const end = await startExecutorServer(t, shell("npm test"), text("Two tests fail."));
  await using executor = await ForeignExecutor.dial(end);
  const fails: ToolBehaviour = (asked) =>
    asked.name === "Shell"
      ? { status: "error", error: "exit 1", stdout: "1 ok", stderr: "2 failed", exit_code: 1 }
      : look(asked);
  const ack = await executor.does(fails).shake({ initial_prompt: "run the tests", known_tools: TOOLS });
  const { payload: asked } = await executor.hears("tool_call_request");
  assert.equal(asked["tool_name"], "Shell");
  assert.deepEqual(asked["arguments"], { command: "npm test", dir_path: "." });
  assert.equal(asked["risk_level"], "code-exec");
  assert.equal(asked["requires_approval"], true);
  assert.match(textOrEmpty(asked, "preview"), /npm test/);
  assert.equal(executor.all("run_tool").length, 2, "nothing runs before it is approved");
  executor.say("tool_approval", { tool_call_id: asked["tool_call_id"] ?? "", approved: true });
  await executor.hears("task_completed");
  assert.equal(executor.all("run_tool").at(-1)?.["tool_id"], asked["tool_call_id"]);
  assert.match(lastTold(end), /1 ok[\s\S]*2 failed[\s\S]*exit code 1/);
  const entries = await end.entries(textOrEmpty(ack, "run_id"));
  const finished = entries.map(({ event }) => event).findLast((event) => event.type === "action.finished");
  assert.ok(finished?.type === "action.finished" && finished.outcome.kind === "process");
  assert.equal(finished.outcome.exitCode, 1);
});

test("004-16 an executor's person may say no, or want it otherwise, and the model is told", async (t) => {
  const end = await startExecutorServer(t, shell("rm -rf build"), shell("rm -r build"), text("Left alone."));
  await using executor = await ForeignExecutor.dial(end);
  const runs: ToolBehaviour = (asked) => (asked.name === "Shell" ? { status: "success", result: "a b" } : look(asked));
  await executor.does(runs).shake({ initial_prompt: "clean up", known_tools: TOOLS });
  const first = await executor.hears("tool_call_request");
  executor.say("tool_approval", { tool_call_id: first.payload["tool_call_id"] ?? "", approved: false });
  const second = await executor.hears("tool_call_request");
  assert.match(lastTold(end), /APPROVAL_DENIED/);
  executor.say("tool_approval", {
    tool_call_id: second.payload["tool_call_id"] ?? "",
    approved: true,
    modifications: { command: "ls build" },
  });
  await executor.hears("task_completed");
  assert.match(lastTold(end), /a b\n.*changed this call.*ls build/s);
  const ran = executor.all("run_tool").at(-1);
  assert.deepEqual(ran?.["parameters"], { command: "ls build", dir_path: "." }, "what the person wrote is what runs");
  assert.equal(executor.all("run_tool").length, 3, "beyond the looks, only that was carried out");
});

test("004-26 a question to the executor's person waits 1200 s for its answer; a second answer has nothing to answer", async (t) => {
  const ask = call("ask", { question: "Which port?", options: ["80", "8080"] });
  const end = await startExecutorServer(t, ask, text("It is 8080."));
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(look).shake({ initial_prompt: "serve it" });
  const { payload } = await executor.hears("input_request");
  assert.deepEqual(
    { ...payload, input_request_id: "" },
    { input_request_id: "", question: "Which port?", options: ["80", "8080"], timeout_seconds: 1200 },
  );
  executor.say("user_input", { input_request_id: "q999", response: "80" });
  assert.equal((await executor.hears("error")).payload["code"], "CONFLICT");
  executor.say("user_input", { input_request_id: payload["input_request_id"] ?? "", response: "8080" });
  await executor.hears("task_completed");
  assert.equal(lastTold(end), "8080");
  executor.say("user_input", { input_request_id: payload["input_request_id"] ?? "", response: "80" });
  assert.equal((await executor.hears("error")).payload["code"], "CONFLICT");
});

test("a question that is answered on another wire is cleared on this one", async (t) => {
  const end = await startExecutorServer(t, shell("make"), text("Made."));
  await using executor = await ForeignExecutor.dial(end);
  const builds: ToolBehaviour = (asked) =>
    asked.name === "Shell" ? { status: "success", result: "built" } : look(asked);
  const ack = await executor.does(builds).shake({ initial_prompt: "build", known_tools: TOOLS });
  const { payload, seq } = await executor.hears("tool_call_request");
  const run = textOrEmpty(ack, "run_id");
  const answered = await end.ask(`/v1/runs/${run}/answers`, { answer: "yes", question: questionId(run, seq ?? 0) });
  assert.equal(answered.status, 200);
  const cleared = await executor.hears("status_update");
  assert.equal(cleared.payload["closed_request_id"], payload["tool_call_id"]);
  await executor.hears("task_completed");
  executor.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: false });
  assert.equal((await executor.hears("error")).payload["code"], "CONFLICT");
});

test("004-14 progress is told to the executor, and to followers of the task's journal", async (t) => {
  const plan = text(
    `${JSON.stringify({ type: "plan", steps: ["read", "tell"] })}\n{"type":"use_tool","name":"read_file","args":{"file_path":"main.py"}}`,
  );
  const end = await startExecutorServer(t, plan, text("Told."));
  await using executor = await ForeignExecutor.dial(end);
  const ack = await executor.does(look).shake({ initial_prompt: "tell me" });
  await executor.hears("task_completed");
  const updates = executor.all("status_update");
  assert.ok(updates.some(({ status, plan: steps }) => status === "planning" && Array.isArray(steps)));
  assert.ok(updates.every(({ progress }) => Number(progress) >= 0 && Number(progress) <= 1));
  const entries = await end.entries(textOrEmpty(ack, "run_id"));
  const told = executor.told.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
  assert.deepEqual(
    told,
    [...told].sort((a, b) => a - b),
  );
  assert.equal(told.at(-1), entries.at(-1)?.seq);
  assert.ok(kinds(entries).includes("plan.made"));
});

test("004-19 a result that makes no sense is refused before the next step: its outcome is unknown", async (t) => {
  const end = await startExecutorServer(t, call("read_file", { file_path: "main.py" }), text("It cannot be read."));
  await using executor = await ForeignExecutor.dial(end);
  const confused: ToolBehaviour = (asked) =>
    asked.name === "ReadFile" ? { status: "perhaps", result: 1 } : look(asked);
  await executor.does(confused).shake({ initial_prompt: "read it" });
  const { payload } = await executor.hears("input_request");
  assert.match(textOrEmpty(payload, "question"), /does not say whether it was done/);
  executor.say("user_input", { input_request_id: payload["input_request_id"] ?? "", response: "continue" });
  await executor.hears("task_completed");
  assert.match(lastTold(end), /its outcome cannot be known/);
});

test("004-19 a result for another id answers nothing", async (t) => {
  const end = await startExecutorServer(t, call("read_file", { file_path: "main.py" }), text("Read."));
  await using executor = await ForeignExecutor.dial(end);
  const wrong: ToolBehaviour = (asked) => {
    if (asked.name !== "ReadFile") return look(asked);
    executor.say("tool_result", { tool_id: "act_other", status: "success", result: "not this" });
    return look(asked);
  };
  await executor.does(wrong).shake({ initial_prompt: "read it" });
  await executor.hears("task_completed");
  assert.equal(lastTold(end), "print(1)");
});

test("004-23 004-24 a tool's error is in the history, and the model plans another way with it", async (t) => {
  const end = await startExecutorServer(
    t,
    call("read_file", { file_path: "app.py" }),
    call("read_file", { file_path: "main.py" }),
    text("It is main.py that prints."),
  );
  await using executor = await ForeignExecutor.dial(end);
  const ack = await executor.does(look).shake({ initial_prompt: "what prints?" });
  const { payload } = await executor.hears("task_completed");
  assert.equal(payload["final_status"], "completed");
  const [before, last] = messagesOfCall(end.model, 1).slice(-2);
  assert.equal(last?.role, "tool");
  assert.match(last.content, /^TOOL_FAILED: ENOENT: no such file app\.py/);
  assert.equal(last.tool_call_id, before?.tool_calls?.[0]?.id);
  const failed = (await end.entries(textOrEmpty(ack, "run_id"))).find(({ event }) => event.type === "action.failed");
  assert.ok(failed !== undefined);
});

test("004-24 with the error before it, the model may also give up", async (t) => {
  const end = await startExecutorServer(t, call("read_file", { file_path: "app.py" }), text("There is no app.py."));
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(look).shake({ initial_prompt: "fix app.py" });
  const { payload } = await executor.hears("task_completed");
  assert.equal(payload["summary"], "There is no app.py.");
});

test("004-26 the same call four times in a row ends the task with a reason", async (t) => {
  const end = await startExecutorServer(t, call("read_file", { file_path: "main.py" }));
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(look).shake({ initial_prompt: "read it" });
  const { payload } = await executor.hears("task_completed");
  assert.equal(payload["final_status"], "failed");
  assert.equal(payload["code"], "LOOP_DETECTED");
  assert.equal(executor.all("run_tool").filter(({ tool_name }) => tool_name === "ReadFile").length, 3);
});

test("files that were written are named at the end; custom tools are run by their own names", async (t) => {
  const end = await startExecutorServer(
    t,
    call("write_file", { file_path: "src/api.py", content: "x" }),
    call("count", { n: 3 }),
    text("Written."),
  );
  await using executor = await ForeignExecutor.dial(end);
  const does: ToolBehaviour = (asked) =>
    asked.name === "WriteFile" || asked.name === "count" ? { status: "success", result: { ok: true } } : look(asked);
  await executor.does(does).shake({
    initial_prompt: "write it",
    known_tools: TOOLS,
    custom_tools: [{ name: "count", description: "Counts.", parameters: { type: "object" }, effect: "read" }],
  });
  const { payload } = await executor.hears("tool_call_request");
  executor.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: true });
  const completed = await executor.hears("task_completed");
  assert.deepEqual(completed.payload["files_changed"], ["src/api.py"]);
  const counted = executor.all("run_tool").at(-1);
  assert.deepEqual([counted?.["tool_name"], counted?.["parameters"]], ["count", { n: 3 }]);
});

test("a custom tool that calls itself idempotent and says nothing of its effect is asked about", async (t) => {
  const end = await startExecutorServer(t, call("drop_table", { n: 1 }), text("Done."));
  await using executor = await ForeignExecutor.dial(end);
  await executor.does(look).shake({
    initial_prompt: "clean up",
    known_tools: TOOLS,
    custom_tools: [{ name: "drop_table", description: "", parameters: { type: "object" }, idempotent: true }],
  });
  const { payload } = await executor.hears("tool_call_request");
  assert.ok(!executor.all("run_tool").some(({ tool_name }) => tool_name === "drop_table"), "nothing has run unasked");
  executor.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: false });
  await executor.hears("task_completed");
  assert.ok(!executor.all("run_tool").some(({ tool_name }) => tool_name === "drop_table"));
});

test("a person at an executor says something while the task works: it is seen, and told with the next step", async (t) => {
  const end = await startExecutorServer(t, shell("npm test"), text("As you say."));
  await using executor = await ForeignExecutor.dial(end);
  const ack = await executor.does(look).shake({ initial_prompt: "run the tests", known_tools: TOOLS });
  const asked = await executor.hears("tool_call_request");
  const words = { message_id: "m1", content: "skip the slow ones" };
  executor.say("user_message", words);
  executor.say("user_message", words);
  executor.say("tool_approval", { tool_call_id: asked.payload["tool_call_id"] ?? "", approved: false });
  await executor.hears("task_completed");
  assert.match(lastTold(end), /skip the slow ones$/);
  const said = executor.all("status_update").filter((update) => JSON.stringify(update).includes(words.content));
  assert.equal(said.length, 1, "shown once");
  const entries = await end.entries(textOrEmpty(ack, "run_id"));
  assert.equal(kinds(entries).filter((kind) => kind === "remark.made").length, 1);
});
