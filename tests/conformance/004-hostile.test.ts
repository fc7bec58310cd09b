import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { RUN_LIMITS } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { until } from "../support/daemon-process.ts";
import { startExecutorServer, startExecutorGateway } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";

/* Executors that say what they should not, and executors that others use. */

const NONSENSE: readonly (readonly [string, string, string])[] = [
  ["no JSON", "{", "BAD_REQUEST"],
  ["a list", "[]", "BAD_REQUEST"],
  ["JSON that is too deep", `${'{"type":"tool_output","payload":'.repeat(70)}{}${"}".repeat(70)}`, "BAD_REQUEST"],
  ["a prototype", '{"type":"tool_output","payload":{"__proto__":{"tool_id":"a"}}}', "BAD_REQUEST"],
  ["a message of an unknown type", '{"type":"constructor","payload":{}}', "BAD_REQUEST"],
  ["output of another kind", '{"type":"tool_output","payload":{"tool_id":"a","stream":"x","chunk":""}}', "BAD_REQUEST"],
  ["a result without an id", '{"type":"tool_result","payload":{"status":"success"}}', "BAD_REQUEST"],
  ["an answer to nothing", '{"type":"user_input","payload":{"input_request_id":"q1","response":"yes"}}', "CONFLICT"],
  ["an approval of nothing", '{"type":"tool_approval","payload":{"tool_call_id":"a","approved":true}}', "CONFLICT"],
];

test("nonsense after the handshake is answered with its code, and the executor stays", async (t) => {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  await using executor = await ForeignExecutor.dial({ url: end.url, token });
  await executor.shake({});
  for (const [what, message, code] of NONSENSE) {
    executor.socket.send(message);
    assert.equal((await executor.hears("error")).payload["code"], code, what);
  }
  executor.socket.send(Buffer.from("{}"));
  assert.equal((await executor.hears("error")).payload["code"], "BAD_REQUEST", "a binary message");
  executor.say("handshake", { client_type: "cli", known_tools: [] });
  assert.equal((await executor.hears("error")).payload["code"], "BAD_REQUEST");
  assert.equal(await executor.gone, 1008, "a second handshake is the end");
});

test("unordered results are not kept, however many there are", async (t) => {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  await using executor = await ForeignExecutor.dial({ url: end.url, token });
  await executor.shake({});
  const large = "x".repeat(900_000);
  const before = process.memoryUsage().rss;
  for (let sent = 0; sent < 200; sent += 1) {
    const payload = { tool_id: `act_${sent}`, status: "success", result: large };
    await new Promise((resolve) => executor.socket.send(JSON.stringify({ type: "tool_result", payload }), resolve));
  }
  executor.say("constructor", {});
  await executor.hears("error");
  const grownMib = (process.memoryUsage().rss - before) / 2 ** 20;
  assert.ok(grownMib < 120, `${grownMib} MiB for 170 MiB of results`);
});

test("an owner cannot answer, resume or use what is another owner's", async (t) => {
  const shell = calls({ id: "call-1", name: "shell", input: '{"command":"make"}' });
  const end = await startExecutorGateway(t, {}, shell, text("Made."));
  const [ana, bea] = [await end.tokens.create({ owner: "ana" }), await end.tokens.create({ owner: "bea" })];
  await using mine = await ForeignExecutor.dial({ url: end.url, token: ana.token });
  const ack = await mine.shake({ initial_prompt: "build", known_tools: ["Shell"], name: "laptop" });
  const { payload } = await mine.hears("tool_call_request");
  await using hers = await ForeignExecutor.dial({
    url: end.url,
    token: bea.token,
    path: `/ws/tasks/${textOrEmpty(ack, "run_id")}`,
  });
  const other = await hers.shake({});
  assert.notEqual(other["session_id"], ack["session_id"]);
  assert.equal(other["run_id"], undefined);
  hers.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: true });
  assert.equal((await hers.hears("error")).payload["code"], "CONFLICT");
  const hands = (owner: string): readonly string[] =>
    end.brain.hands.list({ owner, admin: false }).map(({ name }) => name);
  assert.deepEqual([hands("ana"), hands("bea")], [["laptop"], ["cli"]]);
});

test("an executor without a task is a hand that other runs may use, also after a cut", async (t) => {
  const read = calls({ id: "call-1", name: "read_file", input: '{"file_path":"main.py"}' });
  const end = await startExecutorServer(t, read, text("It prints 1."));
  const at = { url: end.url, token: end.token, path: "/ws/tasks/standby" };
  {
    await using first = await ForeignExecutor.dial(at);
    assert.equal((await first.shake({ name: "laptop" }))["run_id"], undefined);
  }
  const started = await end.ask("/v1/runs", { task: "what does it do?", hand: "laptop" });
  assert.equal(started.status, 201);
  const { id } = (await started.json()) as { id: string };
  await using back = await ForeignExecutor.dial(at);
  await back.does(folderOf({ "main.py": "print(1)" })).shake({ name: "laptop" });
  const entries = await end.entries(id);
  const last = entries.at(-1)?.event;
  assert.ok(last?.type === "run.finished" && last.result === "It prints 1.");
  assert.equal(back.all("run_tool").length, 1);
  assert.equal(back.all("status_update").length, 0, "what others do is not told to it");
});

test("executors are forgotten when their task is over, and those without one after a day", async (t) => {
  let now = Date.now();
  const end = await startExecutorGateway(t, { now: () => now }, text("Done."));
  const { token } = await end.tokens.create({ owner: "ana" });
  const known = (): readonly string[] => end.brain.hands.list({ owner: "ana", admin: false }).map(({ name }) => name);
  const visit = async (name: string, more: JsonObject): Promise<void> => {
    await using executor = await ForeignExecutor.dial({ url: end.url, token });
    await executor.does(folderOf({})).shake({ name, ...more });
    if ("initial_prompt" in more) await executor.hears("task_completed");
  };
  await visit("worker", { initial_prompt: "do it" });
  await until("it is forgotten", () => known().length === 0);
  await visit("standby", {});
  await visit("another", {});
  assert.deepEqual(known(), ["another", "standby"]);
  now += 2 * RUN_LIMITS.handMs;
  await visit("newest", {});
  assert.deepEqual(known(), ["newest"]);
});
