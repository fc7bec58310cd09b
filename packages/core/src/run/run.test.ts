import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isTerminal } from "../event.ts";
import type { Event } from "../event.ts";
import { Fault } from "../fault.ts";
import { RUN_LIMITS } from "../limits.ts";
import { fold, reduce } from "./run.ts";
import { anyLuck, entriesOf, play, started, stateOf } from "./walk.fixture.ts";

const lucks = fc.array(anyLuck, { minLength: 1, maxLength: 120 });

test("the fold of any prefix of any run is a valid state, and going on from it gives the whole", () => {
  fc.assert(
    fc.property(lucks, fc.nat(), (luck, at) => {
      const { entries } = play(luck);
      const cut = 1 + (at % entries.length);
      const prefix = fold(entries.slice(0, cut))!;
      assert.equal(prefix.seq, cut);
      assert.deepEqual(fold(entries.slice(cut), prefix), fold(entries));
    }),
    { numRuns: 400 },
  );
});

test("reducing never changes the state it began from", () => {
  fc.assert(
    fc.property(lucks, (luck) => {
      const { entries } = play(luck);
      let state = fold(entries.slice(0, 1))!;
      for (const entry of entries.slice(1)) {
        const before = structuredClone({ ...state, turns: state.turns.items.slice(0, state.turns.length) });
        const next = reduce(state, entry);
        assert.deepEqual({ ...state, turns: state.turns.items.slice(0, state.turns.length) }, before);
        state = next;
      }
    }),
    { numRuns: 100 },
  );
});

test("a run has at most one terminal event and nothing after it", () => {
  fc.assert(
    fc.property(lucks, (luck) => {
      const { entries } = play(luck);
      const ends = entries.filter((entry) => isTerminal(entry.event));
      assert.ok(ends.length <= 1);
      if (ends.length === 1) assert.equal(ends[0], entries.at(-1));
    }),
  );
});

test("000-38 invariant 4: between two calls of the model there is at most one effect, whatever the model says", () => {
  fc.assert(
    fc.property(lucks, (luck) => {
      let effects = 0;
      for (const { event } of play(luck).entries) {
        if (event.type === "model.called") effects = 0;
        if (event.type === "action.started") effects += 1;
        assert.ok(effects <= 1);
      }
    }),
    { numRuns: 400 },
  );
});

test("every action that starts has exactly one outcome before anything else starts", () => {
  fc.assert(
    fc.property(lucks, (luck) => {
      let open: string | undefined;
      for (const { event } of play(luck).entries) {
        if (event.type === "action.started") {
          assert.equal(open, undefined);
          open = event.action.id;
        }
        if (event.type === "action.finished" || event.type === "action.unknown") {
          assert.equal(event.action, open);
          open = undefined;
        }
        if (event.type === "action.failed" && event.action === open) open = undefined;
      }
    }),
    { numRuns: 400 },
  );
});

test("each call of the model is answered under its own id before the model is called again", () => {
  fc.assert(
    fc.property(lucks, (luck) => {
      const state = fold(play(luck).entries)!;
      const turns = state.turns.items.slice(0, state.turns.length);
      for (const [index, turn] of turns.entries()) {
        if (turn.role !== "assistant" || turn.action === undefined || index === turns.length - 1) continue;
        const answer = turns[index + 1]!;
        assert.equal(answer.role, "tool");
        assert.equal(answer.role === "tool" && answer.callId, turn.action.callId);
      }
    }),
    { numRuns: 400 },
  );
});

test("a journal that does not begin with run.started, or has a gap, is corrupt", () => {
  const entries = entriesOf([
    started(),
    { type: "model.called", step: 1, attempt: 1 },
    { type: "run.finished", result: "x" },
  ]);
  const corrupt = (thrown: unknown): boolean => thrown instanceof Fault && thrown.code === "JOURNAL_CORRUPT";
  assert.throws(() => fold(entries.slice(1)), corrupt);
  assert.throws(() => fold([entries[0]!, entries[2]!]), corrupt);
  assert.throws(() => fold([...entries.slice(0, 1), { ...entries[0]!, seq: 2 }]), corrupt);
});

test("waiting for a person is not work, and a long silence counts only so much", () => {
  const asked = entriesOf([
    started(),
    { type: "question.asked", id: "q2", about: { kind: "ask" }, text: "?", options: [], expiresAt: 1e12 },
  ]);
  const answered = { seq: 3, at: 1e9, event: { type: "question.answered", id: "q2", answer: "x", by: "me" } } as const;
  const state = fold([...asked, answered])!;
  assert.equal(state.used.workMs, 1);
  const woken = reduce(state, {
    seq: 4,
    at: 1e9 + 8 * 3_600_000,
    event: { type: "model.called", step: 1, attempt: 1 },
  });
  assert.equal(woken.used.workMs, 1 + RUN_LIMITS.silenceMs);
});

test("an approved proposal becomes a tool of the run, and a refused one does not", () => {
  const tool = { name: "disk", description: "d", parameters: {}, idempotent: false, argv: ["df"] };
  const question = {
    type: "question.asked",
    id: "q3",
    about: { kind: "tool", tool },
    text: "?",
    options: ["yes", "no"],
    expiresAt: 9e9,
  } as const;
  const answer = (text: string) => ({ type: "question.answered", id: "q3", answer: text, by: "me" }) as const;
  const names = (text: string) =>
    stateOf({ type: "tool.proposed", tool }, question, answer(text)).tools.map((made) => made.name);
  assert.deepEqual(names("yes"), ["echo", "command", "disk"]);
  assert.deepEqual(names("no"), ["echo", "command"]);
});

test("F37 the truth about an unknown outcome settles the question about it, and nothing else does", () => {
  const action = { id: "act_1", tool: "echo", input: {}, callId: "c1" };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const fault = { code: "OUTCOME_UNKNOWN", message: "?" } as const;
  const about = { kind: "unknown", action: "act_1" } as const;
  const asked: Event[] = [
    { type: "model.called", step: 1, attempt: 1 },
    { type: "model.replied", model: "m", text: "", usage, action },
    { type: "action.started", action, hand: "local" },
    { type: "action.unknown", action: "act_1", fault },
    { type: "question.asked", id: "q6", about, text: "?", options: ["continue", "stop"], expiresAt: 9e9 },
  ];
  const outcome = { kind: "value", text: "it was done" } as const;
  const settled = stateOf(...asked, { type: "action.finished", action: "act_1", outcome });
  assert.equal(settled.phase.name, "ready");
  assert.deepEqual(settled.turns.items.at(-1), {
    role: "tool",
    callId: "c1",
    tool: "echo",
    text: "it was done",
    failed: false,
  });
  const refuses = (...events: readonly Event[]): void =>
    assert.throws(() => stateOf(...asked, ...events), { code: "JOURNAL_CORRUPT" });
  refuses({ type: "action.finished", action: "act_2", outcome });
  refuses(
    { type: "action.finished", action: "act_1", outcome },
    { type: "action.failed", action: "act_1", fault: { code: "TOOL_FAILED", message: "no" } },
  );
  refuses(
    { type: "action.finished", action: "act_1", outcome },
    { type: "question.answered", id: "q6", answer: "continue", by: "me" },
  );
});
