import assert from "node:assert/strict";
import { test } from "node:test";
import { EXECUTOR_LIMITS, FOLLOW_LIMITS } from "@vidro/core";
import type { Entry, Event, Journal, LiveEvent } from "@vidro/core";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";
import { startedEvent } from "../../stores/journal.fixture.ts";
import { Shown } from "../run-viewer.fixture.ts";
import { ExecutorEncoder } from "./encoder.ts";
import { ExecutorFollower } from "./follower.ts";
import { openAction } from "./open-action.ts";

const action = (id: string, tool = "shell", input: object = { command: "ls" }) => ({ id, callId: "c", tool, input });
const replied = (id?: string, tool?: string, input?: object): Event =>
  ({
    type: "model.replied",
    model: "m",
    text: "",
    usage: { inputTokens: 1, outputTokens: 1 },
    ...(id === undefined ? {} : { action: action(id, tool, input) }),
  }) as unknown as Event;
const begun = (id: string, tool?: string, input?: object): Event =>
  ({ type: "action.started", action: action(id, tool, input), hand: "h" }) as unknown as Event;
const finished = (id: string, data: object = {}): Event =>
  ({ type: "action.finished", action: id, outcome: { kind: "value", value: "", data } }) as unknown as Event;
const called = (step: number): Event => ({ type: "model.called", step, attempt: 1 });
const approval: Event = {
  type: "question.asked",
  id: "q1_run_1",
  about: { kind: "approval", action: "act_1", hash: "h" },
  text: "May it?",
  options: ["yes", "no"],
  expiresAt: 61_000,
} as unknown as Event;
const asking: Event = { ...(approval as object), id: "q2_run_1", about: { kind: "ask" } } as unknown as Event;

/** Encodes events from the start of a run on. */
function encoded(...events: readonly Event[]) {
  const encoder = new ExecutorEncoder("run_1", "task_1");
  const all = [startedEvent("x"), ...events];
  const messages = all.flatMap((event, at) => encoder.encode({ seq: at + 1, at: 1000, event }));
  return { encoder, messages, last: messages.at(-1) };
}

const field = (message: ExecutorMessage | undefined, name: string): unknown =>
  (message?.payload as { [name: string]: unknown } | undefined)?.[name];

test("every message has the seq of its entry, so that an executor can come back behind it", () => {
  const { messages } = encoded(called(1), replied("act_1"), begun("act_1"), finished("act_1"));
  assert.deepEqual(
    messages.map(({ seq }) => seq),
    messages.map(({ seq }) => seq).toSorted((one, other) => (one ?? 0) - (other ?? 0)),
  );
  assert.ok(messages.every(({ seq }) => typeof seq === "number" && seq > 0));
});

test("the id of a step follows the calls of the model, and words belong to it", () => {
  const { encoder } = encoded(called(3));
  assert.equal(encoder.generation, "run_1:3");
  const delta: LiveEvent = { type: "model.delta", text: "hé", from: 0 };
  assert.deepEqual(encoder.encodeLive(delta), [
    { type: "agent_message_delta", payload: { generation_id: "run_1:3", content: "hé" } },
  ]);
  assert.deepEqual(encoder.encodeLive({ type: "model.thinking", text: "x", from: 0 }), []);
  const output: LiveEvent = { type: "action.output", action: "a", stream: "stdout", chunk: "x" };
  assert.deepEqual(encoder.encodeLive(output), []);
});

test("progress grows from nothing, stays below the whole, and knows the plan", () => {
  const plan: Event = { type: "plan.made", steps: ["a", "b", "c", "d"] };
  const { messages } = encoded(
    plan,
    replied("act_1"),
    begun("act_1"),
    finished("act_1"),
    replied("act_2"),
    begun("act_2"),
    finished("act_2"),
  );
  const progress = messages
    .filter(({ type }) => type === "status_update")
    .map((message) => Number(field(message, "progress")));
  assert.deepEqual(
    progress,
    progress.toSorted((one, other) => one - other),
  );
  assert.deepEqual([progress[0], progress.at(-1)], [0, 0.5]);
  assert.ok(progress.every((part) => part >= 0 && part < 1));
});

test("a question about an action is a request to approve it; any other is one for words, with its time", () => {
  const { encoder, last } = encoded(replied("act_1"), approval);
  assert.equal(last?.type, "tool_call_request");
  assert.deepEqual(
    [field(last, "tool_call_id"), field(last, "risk_level"), field(last, "preview")],
    ["act_1", "code-exec", "May it?"],
  );
  assert.deepEqual(encoder.openQuestion, { id: "q1_run_1", approves: "act_1", options: ["yes", "no"] });
  const { last: words } = encoded(replied(), asking);
  assert.deepEqual(
    [words?.type, field(words, "input_request_id"), field(words, "timeout_seconds")],
    ["input_request", "q2_run_1", 60],
  );
});

test("an answer closes the question by the name that the executor knows it by, and only once", () => {
  const answered: Event = { type: "question.answered", id: "q1_run_1", answer: "yes", by: "ana" };
  const { encoder, last } = encoded(replied("act_1"), approval, answered);
  assert.equal(field(last, "closed_request_id"), "act_1");
  assert.equal(encoder.openQuestion, undefined);
  const { last: after } = encoded(replied("act_1"), approval, answered, begun("act_1"), finished("act_1"));
  assert.equal(field(after, "closed_request_id"), undefined);
  const unknown = {
    type: "action.unknown",
    action: "act_1",
    fault: { code: "OUTCOME_UNKNOWN", message: "?" },
  } as unknown as Event;
  const { last: late } = encoded(replied("act_1"), begun("act_1"), unknown, asking, finished("act_1"));
  assert.equal(
    field(late, "closed_request_id"),
    "q2_run_1",
    "an outcome that became known closes the question about it",
  );
});

test("the end names the files that were changed, each once and within the bound", () => {
  const write = (id: string, path: string): readonly Event[] => [
    replied(id, "write_file", { file_path: path }),
    begun(id, "write_file", { file_path: path }),
    finished(id),
  ];
  const patch: readonly Event[] = [
    replied("p", "apply_patch", {}),
    begun("p", "apply_patch", {}),
    finished("p", { files: [{ path: "c.ts" }, { path: 7 }, null] }),
  ];
  const reads: readonly Event[] = [
    replied("r", "read_file", { path: "secret" }),
    begun("r", "read_file"),
    finished("r"),
  ];
  const { last } = encoded(...write("a", "a.ts"), ...write("b", "a.ts"), ...patch, ...reads, {
    type: "run.finished",
    result: { n: 1 },
  });
  assert.deepEqual(last?.payload, {
    task_id: "task_1",
    final_status: "completed",
    summary: '{"n":1}',
    files_changed: ["a.ts", "c.ts"],
  });
  const many = Array.from({ length: EXECUTOR_LIMITS.filesChanged + 5 }, (_, at) => write(`w${at}`, `f${at}`)).flat();
  const { last: bounded } = encoded(...many, { type: "run.aborted", reason: "stopped" });
  assert.equal((field(bounded, "files_changed") as unknown[]).length, EXECUTOR_LIMITS.filesChanged);
});

test("a failed run says what failed, with its code, and a long summary is cut in its middle", () => {
  const { last } = encoded({ type: "run.failed", fault: { code: "MODEL_UNAVAILABLE", message: "It is down." } });
  assert.deepEqual([field(last, "final_status"), field(last, "code")], ["failed", "MODEL_UNAVAILABLE"]);
  assert.match(String(field(last, "summary")), /It is down\.$/);
  const { last: long } = encoded({
    type: "run.finished",
    result: `begin${"x".repeat(5 * EXECUTOR_LIMITS.summaryChars)}end`,
  });
  const summary = String(field(long, "summary"));
  assert.ok(
    summary.length < 2 * EXECUTOR_LIMITS.summaryChars && summary.startsWith("begin") && summary.endsWith("end"),
  );
});

/** Follows a shown run as an executor that has the entries up to `after`. */
function follow(shown: Shown, after = 0, signal = new AbortController().signal) {
  const sent: ExecutorMessage[] = [];
  const peer = { send: (message: ExecutorMessage) => void sent.push(message), whenDrained: async () => undefined };
  const follower = new ExecutorFollower({ runs: shown.runs, peer, run: shown.run, task: "t", after, signal });
  return { follower, sent, done: follower.follow() };
}

test("an executor that comes back gets what it has not seen, and the end in any case", async (t) => {
  const shown = await new Shown().open(t);
  await shown.notes(3);
  await shown.finish();
  const whole = follow(shown);
  await whole.done;
  const rest = follow(shown, 3);
  await rest.done;
  assert.deepEqual(
    rest.sent,
    whole.sent.filter(({ seq }) => (seq ?? 0) > 3),
  );
  const none = follow(shown, 99);
  await none.done;
  assert.deepEqual(
    none.sent.map(({ type }) => type),
    ["task_completed"],
  );
});

test("the step of an action is told as soon as the journal has it, also to two that wait", async (t) => {
  const shown = await new Shown().open(t);
  const { follower, done } = follow(shown);
  const waiting = [follower.generation("act_1"), follower.generation("act_1")];
  await shown.grow(called(1), replied("act_1"));
  assert.deepEqual(await Promise.all(waiting), ["run_shown:1", "run_shown:1"]);
  await shown.finish();
  await done;
});

test("who waits for a step of a run that is not followed any more is told so, before and after its end", async (t) => {
  const shown = await new Shown().open(t);
  const { follower, done } = follow(shown);
  const waiting = assert.rejects(follower.generation("act_never"), { code: "HAND_UNAVAILABLE" });
  await shown.finish();
  await done;
  await waiting;
  await assert.rejects(follower.generation("act_later"), { code: "HAND_UNAVAILABLE" });
});

test("an action is open from its start to its end, and one of unknown outcome until a person has answered", async () => {
  const unknown = {
    type: "action.unknown",
    action: "a",
    fault: { code: "OUTCOME_UNKNOWN", message: "" },
  } as unknown as Event;
  const answered: Event = { type: "question.answered", id: "q", answer: "continue", by: "ana" };
  const failed = {
    type: "action.failed",
    action: "a",
    fault: { code: "TOOL_FAILED", message: "" },
  } as unknown as Event;
  const open = (...events: readonly Event[]): Promise<string | undefined> => {
    const entries = events.map((event, at): Entry => ({ seq: at + 1, at: 1, event }));
    const read = async (_: string, after: number, limit?: number) => entries.slice(after, after + (limit ?? 1));
    return openAction({ read } as unknown as Journal, "r");
  };
  assert.equal(await open(), undefined);
  assert.equal(await open(begun("a")), "a");
  assert.equal(await open(begun("a"), unknown, asking), "a");
  for (const over of [finished("a"), failed, answered]) assert.equal(await open(begun("a"), over), undefined);
  assert.equal(await open(begun("a"), finished("a"), begun("b")), "b");
  const notes = Array.from({ length: FOLLOW_LIMITS.batch - 1 }, (): Event => ({ type: "note.observed", note: "" }));
  assert.equal(await open(begun("a"), ...notes), "a", "a whole batch is not the end");
  assert.equal(await open(begun("a"), ...notes, finished("a")), undefined);
});
