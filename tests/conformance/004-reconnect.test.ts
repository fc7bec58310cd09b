import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import type { ExecutorEvent } from "../../packages/hands/src/links/executor-ws/executor-state.ts";
import { until } from "../support/daemon-process.ts";
import {
  restartExecutorServer,
  startExecutorServer,
  startExecutorGateway,
  messagesOfCall,
} from "../support/executor-server.ts";
import type { ExecutorServer } from "../support/executor-server.ts";
import { calls, text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";
import type { DialTarget, ToolBehaviour } from "../support/foreign-executor.ts";
import { startSwitchableProxy } from "../support/switchable-proxy.ts";
import { startOurExecutor } from "../support/our-executor.ts";
import { openHand, temporaryFolder } from "../support/local-runs.ts";

/* 004 §5A: the connection breaks, the work does not. */

const TOOLS = ["GetWorkingDirectory", "ReadFolder", "ReadFile", "Shell"];
const shell = (command: string): FakeReply =>
  calls({ id: "call-shell", name: "shell", input: JSON.stringify({ command }) });
const VERDICT = { decision: "allow", rule: "test", class: "code-exec", reason: "It is a test." } as const;
const ALLOW = { version: "test", judge: () => VERDICT };
const look = folderOf({ "main.py": "print(1)" });
const yes = (executor: ForeignExecutor, { tool_call_id = "" }: JsonObject): void =>
  executor.say("tool_approval", { tool_call_id, approved: true });

/** A foreign executor that has begun the one shell command of its task, and is then cut off. */
async function cutInTheMiddle(end: DialTarget): Promise<{ readonly session: string; readonly tool: string }> {
  await using executor = await ForeignExecutor.dial(end);
  const begun = Promise.withResolvers<string>();
  const begins: ToolBehaviour = (asked) => {
    if (asked.name !== "Shell") return look(asked);
    begun.resolve(asked.id);
    return undefined;
  };
  const ack = await executor.does(begins).shake({ initial_prompt: "build", known_tools: TOOLS });
  yes(executor, (await executor.hears("tool_call_request")).payload);
  const tool = await begun.promise;
  executor.cut();
  return { session: textOrEmpty(ack, "session_id"), tool };
}

test("004-25 an executor that says what it is still at is not told again, and its result counts", async (t) => {
  const end = await startExecutorServer(t, shell("make"), text("Built."));
  const { session, tool } = await cutInTheMiddle(end);
  await using back = await ForeignExecutor.dial(end);
  const ack = await back.shake({ known_tools: TOOLS, resume: { session_id: session }, open_actions: [tool] });
  assert.equal(ack["session_id"], session);
  assert.equal(ack["session_epoch"], 2);
  back.say("tool_result", { tool_id: tool, status: "success", stdout: "built", stderr: "", exit_code: 0 });
  assert.equal((await back.hears("task_completed")).payload["summary"], "Built.");
  assert.equal(back.all("run_tool").length, 0);
});

test("004-25 a result that ended during the cut is delivered after it, also when the brain was another meanwhile", async (t) => {
  const first = await startExecutorServer(t, shell("make"), text("Built."));
  const { session, tool } = await cutInTheMiddle(first);
  await first.close();
  const end = await restartExecutorServer(t, first);
  await using back = await ForeignExecutor.dial(end);
  await back.shake({ known_tools: TOOLS, resume: { session_id: session, last_seq: 3 } });
  back.say("tool_result", { tool_id: tool, status: "success", result: "built" });
  assert.equal((await back.hears("task_completed")).payload["final_status"], "completed");
  assert.equal(back.all("run_tool").length, 0, "it was never told to run it twice");
  assert.ok(back.told.every(({ seq = 4 }) => seq > 3));
});

test("an executor without a ledger is never told twice: what it does not tell is unknown", async (t) => {
  const end = await startExecutorGateway(t, { bounds: { lateMs: 50 } }, shell("make"), text("Built."));
  const { token } = await end.tokens.create({ owner: "ana" });
  const at = { url: end.url, token };
  const { session } = await cutInTheMiddle(at);
  await using back = await ForeignExecutor.dial(at);
  await back.shake({ known_tools: TOOLS, resume: { session_id: session } });
  const { payload } = await back.hears("input_request");
  assert.match(textOrEmpty(payload, "question"), /sent no result/);
  assert.equal(back.all("run_tool").length, 0);
  back.say("user_input", { input_request_id: payload["input_request_id"] ?? "", response: "stop" });
  assert.equal((await back.hears("task_completed")).payload["code"], "OUTCOME_UNKNOWN");
});

test("a task that is dialled again under its name is the same task, and the newest executor has it", async (t) => {
  const end = await startExecutorServer(t, shell("make"), text("Built."));
  const at = { ...end, path: "/ws/tasks/my-task" };
  await using first = await ForeignExecutor.dial(at);
  const before = await first.does(look).shake({ initial_prompt: "build", known_tools: TOOLS });
  assert.equal(before["task_id"], "my-task");
  await first.hears("tool_call_request");
  await using second = await ForeignExecutor.dial(at);
  const after = await second.does(look).shake({ initial_prompt: "build", known_tools: TOOLS });
  assert.equal(after["run_id"], before["run_id"]);
  assert.equal((await first.hears("error")).payload["code"], "CONFLICT");
  assert.equal(await first.gone, 1008);
  const { payload } = await second.hears("tool_call_request");
  second.say("tool_approval", { tool_call_id: payload["tool_call_id"] ?? "", approved: false });
  assert.equal((await second.hears("task_completed")).payload["task_id"], "my-task");
});

/** A command that says when it has begun, ends when it is let go, and counts how often it ran. */
function slowCommand(folder: string): { readonly command: string; hasBegun(): boolean; letGo(): void; runs(): number } {
  const [begun, go, count] = ["begun", "go", "count"].map((name) => join(folder, name)) as [string, string, string];
  return {
    command: `echo x >> ${count}; touch ${begun}; while [ ! -e ${go} ]; do sleep 0.05; done; echo built`,
    hasBegun: () => existsSync(begun),
    letGo: () => writeFileSync(go, ""),
    runs: () => readFileSync(count, "utf8").length / 2,
  };
}

test("004-20 004-21 004-22 004-25 our executor loses its brain in the middle, comes back, and tells what ended", async (t) => {
  const marks = temporaryFolder(t);
  const slow = slowCommand(marks);
  const end = await startExecutorServer(t, shell(slow.command), text("Built."));
  await using way = await startSwitchableProxy(end.url);
  await using it = await startOurExecutor(
    { url: way.url, token: end.token, task: { id: "t1", prompt: "build" } },
    { state: marks, project: end.project },
  );
  const { run_id: run = "" } = await it.executor.joined;
  await approve(end, run);
  await until("the command has begun", () => slow.hasBegun());
  way.shut();
  const down = await it.until("CONNECTION_ERROR");
  assert.equal(down.connection, "down");
  slow.letGo();
  await it.until("TOOL_ENDED");
  await until("several tries were made", () => it.events.filter(({ type }) => type === "CONNECTION_ERROR").length >= 3);
  assert.ok(it.executor.state.failures >= 3);
  way.open();
  const up = await it.until("CONNECTION_RESTORED");
  assert.equal(up.connection, "up");
  assert.equal(up.error, undefined);
  await it.until("TASK_COMPLETED");
  assert.equal(it.executor.state.final, "completed");
  assert.equal(slow.runs(), 1);
  assert.match(messagesOfCall(end.model).at(-1)?.content ?? "", /^built/);
});

test("004-25 our executor works on while the brain itself goes down and another comes up", async (t) => {
  const marks = temporaryFolder(t);
  const slow = slowCommand(marks);
  const first = await startExecutorServer(t, shell(slow.command), text("Built."));
  await using it = await startOurExecutor(
    { url: first.url, token: first.token, task: { id: "t2", prompt: "build" } },
    { state: marks, project: first.project },
  );
  const { run_id: run = "" } = await it.executor.joined;
  await approve(first, run);
  await until("the command has begun", () => slow.hasBegun());
  await first.close();
  await it.until("CONNECTION_ERROR");
  slow.letGo();
  await it.until("TOOL_ENDED");
  const end = await restartExecutorServer(t, first);
  await it.until("TASK_COMPLETED");
  assert.equal(slow.runs(), 1);
  const entries = await end.entries(run);
  assert.equal(entries.filter(({ event }) => event.type === "action.finished").length, 3);
});

test("004-16 004-18 our executor does what it is told under the id it was given, and nothing else", async (t) => {
  const state = temporaryFolder(t);
  const end = await startExecutorServer(t, shell("echo hi"), text("Said."));
  mkdirSync(join(end.project, ".codegen"));
  writeFileSync(join(end.project, ".codegen", "plan.md"), "# Plan");
  await using it = await startOurExecutor(
    { url: end.url, token: end.token, task: { id: "t3", prompt: "say hi" } },
    { state, project: end.project },
  );
  const { run_id: run = "" } = await it.executor.joined;
  await approve(end, run);
  await it.until("TASK_COMPLETED");
  const begun = it.events.flatMap((event) => (event.type === "TOOL_BEGUN" ? [event.tool] : []));
  const ended = it.events.flatMap((event) => (event.type === "TOOL_ENDED" ? [event.tool] : []));
  const started = (await end.entries(run)).flatMap(({ event }) =>
    event.type === "action.started" ? [event.action.id] : [],
  );
  assert.deepEqual(begun, started);
  assert.deepEqual(ended, started);
  await until("all ends are acknowledged", () => it.executor.state.results.size === 0);
});

/** Where the connection is cut: the n-th time that this happens to the executor. */
const CUTS: readonly (readonly [ExecutorEvent["type"], number])[] = [
  ["TOOL_BEGUN", 3],
  // The end is known here and not sent yet.
  ["TOOL_ENDED", 4],
  ["CONNECTION_RESTORED", 2],
  ["RESULT_ACKNOWLEDGED", 5],
  ["TOOL_BEGUN", 6],
];

test("004-25 a connection that breaks at every bad moment loses no result and doubles no effect", async (t) => {
  const steps = 5;
  const step = (n: number): FakeReply =>
    calls({ id: `call-${n}`, name: "shell", input: JSON.stringify({ command: `echo ${n} >> log; echo did ${n}` }) });
  const end = await startExecutorServer(t, ...Array.from({ length: steps }, (_, n) => step(n)), text("All done."));
  await using way = await startSwitchableProxy(end.url);
  const hand = await openHand(temporaryFolder(t), end.project, { policy: ALLOW });
  const happened = new Map<string, number>();
  const watch = ({ type }: ExecutorEvent): void => {
    const times = (happened.get(type) ?? 0) + 1;
    happened.set(type, times);
    if (!CUTS.some(([what, when]) => what === type && when === times)) return;
    way.shut();
    setImmediate(() => way.open());
  };
  const task = { id: "t5", prompt: "do it all" };
  await using it = await startOurExecutor(
    { url: way.url, token: end.token, task, hand, watch },
    { state: "", project: "" },
  );
  const { run_id: run = "" } = await it.executor.joined;
  await it.until("TASK_COMPLETED");
  for (const [what, when] of CUTS) assert.ok((happened.get(what) ?? 0) >= when, `${what} came ${when} times`);
  const numbers = Array.from({ length: steps }, (_, n) => `${n}\n`);
  assert.equal(readFileSync(join(end.project, "log"), "utf8"), numbers.join(""));
  const outcomes = (await end.entries(run)).flatMap(({ event }) =>
    event.type === "action.finished" && event.outcome.kind === "process" ? [event.outcome.stdout.text] : [],
  );
  assert.deepEqual(
    outcomes,
    numbers.map((n) => `did ${n}`),
  );
});

test("a link that is dead without a word is noticed at both ends within three heartbeats", async (t) => {
  const heartbeatMs = 40;
  const end = await startExecutorGateway(t, { bounds: { heartbeatMs } });
  const { token } = await end.tokens.create({ owner: "ana" });
  await using way = await startSwitchableProxy(end.url);
  await using it = await startOurExecutor(
    { url: way.url, token, task: { id: "t4" }, heartbeatMs },
    { state: temporaryFolder(t), project: temporaryFolder(t) },
  );
  const { session_id: session } = await it.executor.joined;
  const isUp = (): boolean => end.brain.hands.isConnected(`executor:${session}`);
  assert.equal(isUp(), true);
  // As long as both ends live, silence is no death.
  await new Promise((resolve) => setTimeout(resolve, 6 * heartbeatMs));
  assert.equal(it.executor.state.connection, "up");
  way.freeze();
  await it.until("CONNECTION_ERROR");
  await until("the brain has noticed, too", () => !isUp());
});

/** Says yes to the approval that a run asks for, on the journal's own wire. */
async function approve(end: ExecutorServer, run: string): Promise<void> {
  let answered = 0;
  await until("the run asks", async () => {
    const head = (await (await end.ask(`/v1/runs/${run}`)).json()) as { status: string };
    if (head.status === "asking") answered = (await end.ask(`/v1/runs/${run}/answers`, { answer: "yes" })).status;
    return answered === 200;
  });
}
