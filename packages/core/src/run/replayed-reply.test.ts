import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../event.ts";
import type { ModelReply } from "../ports.ts";
import type { ReplyPart } from "../reply-parts.ts";
import { compactConversation } from "./compaction.ts";
import { replyEvents } from "./reply.ts";
import { fold } from "./run.ts";
import type { RunState } from "./run.ts";
import { turnsOf } from "./turns.ts";
import { said, stateOf } from "./walk.fixture.ts";

const THOUGHT: ReplyPart = { kind: "thinking", text: "", opaque: { anthropic: { signature: "s" } } };
const callPart = (callId: string, text: string): ReplyPart => ({
  kind: "call",
  callId,
  tool: "echo",
  input: { text },
  opaque: { google: { thoughtSignature: callId } },
});

function replyWith(...callIds: readonly string[]): ModelReply {
  const calls = callIds.map((id) => ({ id, tool: "echo", input: { text: id } }));
  return { ...said("", ...calls), parts: { items: [THOUGHT, ...callIds.map((id) => callPart(id, id))] } };
}

/** The state after events in which each reply's action was refused, so that the next step can begin. */
function stateAfter(...replies: readonly ModelReply[]): RunState {
  let events: readonly Event[] = [];
  let state = stateOf(...events);
  for (const [index, reply] of replies.entries()) {
    const called: Event = { type: "model.called", step: index + 1, attempt: 1 };
    state = stateOf(...events, called);
    const id = `act_${index}`;
    const failed: Event = { type: "action.failed", action: id, fault: { code: "POLICY_DENIED", message: "no" } };
    events = [...events, called, ...replyEvents(reply, state, () => id), failed];
    state = stateOf(...events);
  }
  return state;
}

test("a reply is recorded in the vendor's parts; the input of its action is not stored twice", () => {
  const { turns } = stateAfter(replyWith("c1"));
  const [reply] = turnsOf(turns);
  assert.ok(reply?.role === "assistant");
  assert.deepEqual(reply.parts?.items[0], THOUGHT);
  assert.deepEqual(reply.parts?.items[1], {
    kind: "call",
    callId: "c1",
    tool: "echo",
    opaque: { google: { thoughtSignature: "c1" } },
  });
});

test("each call of a reply has one result, directly after it, also those that are not run", () => {
  const turns = turnsOf(stateAfter(replyWith("c1", "c2", "c3")).turns);
  const results = turns.slice(1).map((turn) => (turn.role === "tool" ? [turn.callId, turn.failed] : turn.role));
  assert.deepEqual(results, [
    ["c2", true],
    ["c3", true],
    ["c1", true],
  ]);
  assert.match(turns[1]?.text ?? "", /Not run: one action at a time/);
  assert.doesNotMatch(turns[3]?.text ?? "", /Not run/, "it is not told a second time");
});

test("a gap in the thinking ends the thinking before it, and not that after it", () => {
  const before = stateAfter(replyWith("c1"));
  const called: Event = { type: "model.called", step: 2, attempt: 1 };
  const replied: Event = {
    type: "model.replied",
    model: "scripted",
    text: "",
    usage: { inputTokens: 1, outputTokens: 1 },
    control: { id: "", tool: "plan", input: {}, callId: "c2" },
    parts: { from: "scripted", items: [callPart("c2", "c2")], gap: true },
  };
  const next: Event = { ...replied, parts: { from: "scripted", items: [THOUGHT] } };
  const events = [called, replied, { ...called, step: 3 }, next];
  const state = fold(
    events.map((event, index) => ({ seq: before.seq + 1 + index, at: before.at, event })),
    before,
  )!;
  const thoughts = turnsOf(state.turns).flatMap((turn) =>
    turn.role === "assistant" ? [turn.parts?.items.filter(({ kind }) => kind === "thinking").length] : [],
  );
  assert.deepEqual(thoughts, [0, 0, 1]);
});

test("compaction leaves out signatures: they do not hold for an altered conversation", () => {
  const before = stateAfter(replyWith("c1"), replyWith("c2"));
  const compacted = fold([{ seq: before.seq + 1, at: before.at, event: compactConversation(before) }], before)!;
  assert.ok(!JSON.stringify(turnsOf(compacted.turns)).includes("ignature"));
  assert.ok(compacted.turns.chars < before.turns.chars);
  assert.equal(turnsOf(compacted.turns).length, turnsOf(before.turns).length);
});
