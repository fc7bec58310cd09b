import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Event, QuestionAsked, RunStarted } from "@vidro/core";
import { foldConversation, NO_ITEMS } from "../../packages/console/src/run/conversation.ts";
import type { Item, PlanItem, QuestionItem, RunConversation } from "../../packages/console/src/run/conversation.ts";
import { planTitle } from "../../packages/console/src/run/plan-title.ts";

const STARTED = { type: "run.started", task: "look", tools: [], history: [] } as unknown as RunStarted;
const usage = { inputTokens: 1, outputTokens: 1 };
const action = (id: string) => ({ id, tool: "echo", input: {}, callId: `c_${id}` });
const replied = (text: string, more: object = {}): Event => ({
  type: "model.replied",
  model: "m",
  text,
  usage,
  ...more,
});
const finished = (id: string, exitCode = 0): Event => {
  const stream = { text: "", bytes: 0, truncated: false, sha256: "" };
  const process = { kind: "process", exitCode, signal: null, timedOut: false, durationMs: 1 } as const;
  return { type: "action.finished", action: id, outcome: { ...process, stdout: stream, stderr: stream } };
};
const asked = (id: string, about: object): QuestionAsked =>
  ({ type: "question.asked", id, text: "May it?", options: [], expiresAt: 9, about }) as unknown as QuestionAsked;

function conversationOf(...events: readonly Event[]): RunConversation {
  const entries = [STARTED, ...events].map((event, index): Entry => ({ seq: index + 1, at: 100 + index, event }));
  return entries.reduce(foldConversation, NO_ITEMS);
}

const kinds = ({ items }: RunConversation): readonly string[] => items.map(({ kind }) => kind);
const planOf = ({ items }: RunConversation): PlanItem => items.find((item): item is PlanItem => item.kind === "plan")!;
const lastOf = ({ items }: RunConversation): Item => items.at(-1)!;

test("a run begins with its task and an empty plan, and two runs share nothing", () => {
  const [one, other] = [conversationOf(replied("a")), conversationOf()];
  assert.deepEqual(kinds(one), ["task", "plan", "said"]);
  assert.deepEqual(kinds(other), ["task", "plan"]);
  assert.deepEqual(NO_ITEMS.items, []);
});

test("the reply that answers is shown as the result alone, with what the model thought before it", () => {
  const parts = { from: "m", items: [{ kind: "thinking", text: " hm " }] };
  const done = conversationOf(replied("It is done.", { answer: "It is done.", parts }), {
    type: "run.finished",
    result: "It is done.",
  });
  assert.deepEqual(kinds(done), ["task", "plan", "thought", "result"]);
  assert.deepEqual(lastOf(done), { kind: "result", seq: 3, result: "It is done.", isUnmet: false });
  assert.deepEqual(kinds(conversationOf(replied("  \n"))), ["task", "plan"]);
});

test("an action is one item from its proposal to its outcome", () => {
  const whole = conversationOf(
    replied("", { action: action("a1") }),
    { type: "action.started", action: action("a1"), hand: "local", epoch: 1 } as unknown as Event,
    finished("a1"),
  );
  assert.deepEqual(kinds(whole), ["task", "plan", "action"]);
  const item = lastOf(whole);
  assert.ok(item.kind === "action");
  assert.deepEqual([item.hand, item.startedAt, item.endedAt, item.outcome?.kind], ["local", 102, 103, "process"]);
});

test("an outcome that cannot be known says so, and one of an unknown action changes nothing", () => {
  const fault = { code: "OUTCOME_UNKNOWN", message: "lost" } as const;
  const lost = conversationOf(replied("", { action: action("a1") }), { type: "action.unknown", action: "a1", fault });
  assert.partialDeepStrictEqual(lastOf(lost), { kind: "action", isUnknown: true, fault });
  assert.deepEqual(kinds(conversationOf(finished("nowhere"))), ["task", "plan"]);
});

test("actions tick the steps of a plan; further ones belong to its last step, which the answer ticks", () => {
  const steps = ["look", "do", "tell"];
  const plan: Event = { type: "plan.made", steps };
  assert.deepEqual(planOf(conversationOf(plan, finished("a"), finished("b", 1))).fates, ["done", "failed"]);
  const done = conversationOf(plan, finished("a"), finished("b"), { type: "run.finished", result: "x" });
  assert.deepEqual([planOf(done).fates, planOf(done).isOver], [["done", "done", "done"], true]);
  const many = conversationOf(plan, ...["a", "b", "c", "d", "e"].map((id) => finished(id)));
  assert.equal(planOf(many).fates.length, steps.length);
  assert.deepEqual(planOf(conversationOf(finished("a"))).fates, [], "without a plan nothing is ticked");
});

test("a question about an action shows the action with its verdict; its answer closes it", () => {
  const verdict = { decision: "ask", class: "write", rule: "r", reason: "" };
  const judged = {
    type: "policy.judged",
    action: "a1",
    plan: { kind: "file" },
    hash: "h",
    verdict,
  } as unknown as Event;
  const about = { kind: "approval", action: "a1", hash: "h" };
  const open = conversationOf(replied("", { action: action("a1") }), judged, asked("q1", about));
  assert.equal(open.question, 3);
  assert.partialDeepStrictEqual(lastOf(open), { kind: "question", action: { id: "a1" }, verdict: { class: "write" } });
  const entry: Entry = {
    seq: 9,
    at: 9,
    event: { type: "question.answered", id: "q1", answer: "yes", by: "ana" },
  };
  const answered = foldConversation(open, entry);
  assert.equal(answered.question, undefined);
  assert.partialDeepStrictEqual(lastOf(answered), { answer: { text: "yes", by: "ana" } });
  assert.deepEqual(foldConversation(answered, entry).question, undefined, "a second answer changes nothing");
});

test("an item that changes is another object, so that only it is drawn again", () => {
  const before = conversationOf(replied("", { action: action("a1") }), replied("", { action: action("a2") }));
  const [, , first, second] = before.items;
  const after = foldConversation(before, { seq: 9, at: 9, event: finished("a1") });
  assert.notEqual(after, before);
  assert.notEqual(after.items[2], first);
  assert.equal(after.items[3], second);
});

test("each end of a run is shown", () => {
  assert.partialDeepStrictEqual(lastOf(conversationOf({ type: "run.aborted", reason: "stopped" })), {
    kind: "stop",
    text: "stopped",
  });
  const fault = { code: "STEP_LIMIT", message: "too many" } as const;
  assert.partialDeepStrictEqual(lastOf(conversationOf({ type: "run.failed", fault })), {
    kind: "failure",
    fault,
  });
});

test("the title of a question is its plan and the name of its hand, or its words", () => {
  const nameOf = (hand: string): string => (hand === "h1" ? "web-1" : hand);
  const item = (about: object): QuestionItem => ({ kind: "question", seq: 1, askedAt: 1, question: asked("q", about) });
  assert.equal(planTitle(item({ kind: "ask" }), nameOf), "May it?");
  const plan = { kind: "fetch", url: "https://a.example/", reach: "public" };
  assert.match(
    planTitle(item({ kind: "approval", action: "a", hash: "h", plan, hand: "h1" }), nameOf),
    /a\.example.* on web-1$/,
  );
});

test("a process in the background stands at its start as it was told last, and ends with the run unless it is kept", () => {
  const begun = (id: string, tool: string): Event =>
    replied("", { action: { id, tool, input: {}, callId: `c_${id}` } });
  const told = (id: string, data: object): Event => ({
    type: "action.finished",
    action: id,
    outcome: { kind: "value", text: "", data: { process: "p1", running: true, keep: false, ...data } },
  });
  const processOf = ({ items }: RunConversation, id: string) =>
    items.flatMap((item) => (item.kind === "action" && item.action.id === id ? [item.process] : []))[0];
  const events = [begun("a", "start_process"), told("a", { id: "a" }), begun("b", "read_output")];
  assert.deepEqual(processOf(conversationOf(...events), "a"), { name: "p1", isRunning: true, isKept: false });
  const over = { id: "a", running: false, exit_code: 2, signal: null };
  const read = conversationOf(...events, told("b", over));
  assert.deepEqual(processOf(read, "a"), { name: "p1", isRunning: false, isKept: false, exitCode: 2 });
  assert.deepEqual(processOf(read, "b"), processOf(read, "a"));
  const ended = conversationOf(...events, { type: "run.finished", result: "" });
  assert.deepEqual(processOf(ended, "a"), { name: "p1", isRunning: false, isKept: false, isOver: true });
  const kept = conversationOf(begun("a", "start_process"), told("a", { id: "a", keep: true }), {
    type: "run.finished",
    result: "",
  });
  assert.equal(processOf(kept, "a")?.isRunning, true);
  assert.equal(processOf(conversationOf(begun("a", "mcp_x"), told("a", { id: "a" })), "a"), undefined);
});
