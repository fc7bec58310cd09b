import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Entry, Event } from "@vidro/core";
import { foldTimeline, NO_SPANS, rowsOf, timeSpent } from "../../packages/console/src/run/timeline.ts";
import type { Timeline } from "../../packages/console/src/run/timeline.ts";

const STARTED = { type: "run.started", task: "look", tools: [], history: [] } as unknown as Event;
const called = (attempt = 1, more: object = {}) =>
  ({ type: "model.called", step: 1, attempt, ...more }) as unknown as Event;
const REPLIED: Event = { type: "model.replied", model: "m", text: "", usage: { inputTokens: 1, outputTokens: 1 } };
const FAULT = { code: "MODEL_CUT", message: "cut" } as const;
const action = { id: "a1", tool: "echo", input: {}, callId: "c" };
const ACTED = { type: "action.started", action, hand: "local", epoch: 1 } as unknown as Event;
const DONE: Event = { type: "action.finished", action: "a1", outcome: { kind: "value", text: "" } };

/** The timeline of events that come at these times. */
function timelineOf(...events: readonly (readonly [at: number, event: Event])[]): Timeline {
  const entries = [[0, STARTED] as const, ...events].map(([at, event], index): Entry => ({
    seq: index + 1,
    at,
    event,
  }));
  return entries.reduce(foldTimeline, NO_SPANS);
}

test("time goes to the model, the hand, a person and waiting", () => {
  const asked = { type: "question.asked", id: "q", text: "?", options: [], expiresAt: 1, about: { kind: "ask" } };
  const timeline = timelineOf(
    [10, called()],
    [30, REPLIED],
    [40, ACTED],
    [90, DONE],
    [100, asked as unknown as Event],
    [600, { type: "question.answered", id: "q", answer: "yes" } as unknown as Event],
  );
  assert.deepEqual(timeSpent(timeline), { model: 20, hand: 50, person: 500, healing: 0 });
  assert.deepEqual([timeline.from, timeline.to, timeline.open], [0, 600, undefined]);
});

test("an open span counts up to the last entry", () => {
  const timeline = timelineOf([10, called()], [25, { type: "note.observed", note: "x" }]);
  assert.equal(timeSpent(timeline).model, 15);
  assert.equal(timeline.open, 0);
});

test("a further attempt is the same step, a summary is none", () => {
  const timeline = timelineOf(
    [1, called()],
    [2, { type: "model.failed", attempt: 1, fault: FAULT }],
    [3, called(2)],
    [4, REPLIED],
    [5, called(1, { summary: true })],
    [6, REPLIED],
    [7, called()],
  );
  assert.deepEqual(
    timeline.spans.map(({ step, attempt }) => [step, attempt]),
    [
      [1, 1],
      [1, 2],
      [undefined, undefined],
      [2, 1],
    ],
  );
  assert.deepEqual(
    timeline.spans.map(({ isBad }) => isBad === true),
    [true, false, false, false],
  );
});

const HEAL = { type: "heal.tried", healing: "x", description: "", severity: "low", attempt: 1, metadata: {} } as const;

test("a wait before the next attempt is a span of its own; a healing without one is none", () => {
  const heal = (delayMs: number) => ({ ...HEAL, delayMs }) as unknown as Event;
  assert.equal(timelineOf([1, heal(0)]).spans.length, 0);
  assert.deepEqual(timeSpent(timelineOf([1, heal(500)])).healing, 500);
});

test("the attempts of a step and the waits between them stand on one row; a wait behind no failure has its own", () => {
  const wait = { ...HEAL, delayMs: 5 } as unknown as Event;
  const failed = { type: "model.failed", fault: { code: "MODEL_CUT", message: "" } } as unknown as Event;
  const timeline = timelineOf(
    [1, called()],
    [2, failed],
    [2, wait],
    [7, called(2)],
    [9, REPLIED],
    [9, wait],
    [20, ACTED],
  );
  assert.deepEqual(
    rowsOf(timeline.spans).map(({ spans }) => spans.map(({ kind }) => kind)),
    [["model", "healing", "model"], ["healing"], ["hand"]],
  );
  const [row] = rowsOf(timeline.spans);
  assert.deepEqual([row?.first.from, row?.last.to, row?.last.attempt], [1, 9, 2]);
});

test("any order of entries leaves at most one span open, and none lasts less than nothing", () => {
  const event = fc.constantFrom(called(), called(2), REPLIED, ACTED, DONE, {
    type: "run.aborted",
    reason: "",
  } as Event);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), event), { maxLength: 30 }), (steps) => {
      let at = 0;
      const timeline = timelineOf(...steps.map(([ms, one]) => [(at += ms), one] as const));
      const open = timeline.spans.filter(({ to }) => to === undefined);
      assert.ok(open.length <= 1);
      assert.equal(timeline.open === undefined, open.length === 0);
      assert.ok(Object.values(timeSpent(timeline)).reduce((sum, ms) => sum + ms, 0) <= at);
      assert.deepEqual(NO_SPANS.spans, []);
    }),
  );
});
