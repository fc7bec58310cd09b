import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Entry, Event, RunStarted } from "@vidro/core";
import type { TraceSpan } from "@vidro/core/trace";
import { startedEvent } from "../../stores/journal.fixture.ts";
import { RunSpans } from "./run-spans.ts";
import { spanIdOf, traceOf } from "./span-ids.ts";

const RUN = "run_1";
const CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const ACTION = { id: "act_1", callId: "c", tool: "shell", input: {} };
const USAGE = { inputTokens: 10, outputTokens: 2 };
const FAULT = { code: "MODEL_CUT", message: "cut" } as const;

const started = (more: Partial<RunStarted> = {}): RunStarted => ({
  ...(startedEvent("x") as RunStarted),
  model: "openai/gpt-5",
  ...more,
});
const called = (step: number, attempt = 1, more: object = {}): Event => ({
  type: "model.called",
  step,
  attempt,
  ...more,
});
const replied = { type: "model.replied", model: "gpt-5-0807", text: "", usage: USAGE } as Event;

/** Two steps: one with an action that a person approves, one that answers. */
const STORY: readonly Event[] = [
  started(),
  called(1),
  replied,
  { type: "question.asked", id: "q1_run_1", about: { kind: "ask" }, text: "?", options: [], expiresAt: 9 },
  { type: "question.answered", id: "q1_run_1", answer: "yes", by: "ana" },
  { type: "action.started", action: ACTION, hand: "local" } as unknown as Event,
  { type: "action.finished", action: "act_1", outcome: { kind: "value", value: 1 } } as unknown as Event,
  called(2),
  { type: "model.failed", attempt: 1, fault: FAULT },
  called(2, 2),
  replied,
  { type: "run.finished", result: "done" },
];

const entriesOf = (events: readonly Event[]): readonly Entry[] =>
  events.map((event, at) => ({ seq: at + 1, at: 1000 * (at + 1), event }));

function spansOf(events: readonly Event[], run = RUN): readonly TraceSpan[] {
  const given: TraceSpan[] = [];
  const spans = new RunSpans(run, (span) => given.push(span));
  for (const entry of entriesOf(events)) spans.take(entry);
  return given;
}

const named = (spans: readonly TraceSpan[], name: string): TraceSpan =>
  spans.find((span) => span.name === name) ??
  assert.fail(`no span ${name} among ${spans.map((one) => one.name).join()}`);

test("a run is one tree: the run, its steps, and below them its calls, actions and questions", () => {
  const spans = spansOf(STORY);
  const root = named(spans, "invoke_agent tester");
  assert.equal(root.parentId, undefined);
  for (const step of ["step 1", "step 2"]) assert.equal(named(spans, step).parentId, root.spanId);
  for (const name of ["ask a person", "execute_tool shell"])
    assert.equal(named(spans, name).parentId, named(spans, "step 1").spanId);
  const calls = spans.filter(({ name }) => name === "chat openai/gpt-5");
  assert.deepEqual(
    calls.map(({ parentId }) => parentId),
    [named(spans, "step 1"), named(spans, "step 2"), named(spans, "step 2")].map(({ spanId }) => spanId),
  );
  assert.equal(spans.length, 8);
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
});

test("a span begins and ends with its entries, and a step lasts until the next one", () => {
  const spans = spansOf(STORY);
  const times = (name: string): readonly number[] => [named(spans, name).startedAt, named(spans, name).endedAt];
  assert.deepEqual(times("step 1"), [2000, 8000]);
  assert.deepEqual(times("step 2"), [8000, 12_000]);
  assert.deepEqual(times("execute_tool shell"), [6000, 7000]);
  assert.deepEqual(times("invoke_agent tester"), [1000, 12_000]);
});

test("a failed call has its fault, and the run counts what all its calls used", () => {
  const spans = spansOf(STORY);
  const [failed] = spans.filter(({ error }) => error !== undefined);
  assert.deepEqual([failed?.error, failed?.attributes["error.type"]], ["cut", "MODEL_CUT"]);
  const { attributes } = named(spans, "invoke_agent tester");
  assert.equal(attributes["gen_ai.usage.input_tokens"], 20);
  assert.equal(attributes["gen_ai.provider.name"], "openai");
  assert.equal(attributes["vidro.run.status"], "finished");
});

test("a run goes on in the trace of its caller, below the caller's span; a text that is none is left alone", () => {
  const [, ...rest] = STORY;
  const root = named(spansOf([started({ trace: CALLER }), ...rest]), "invoke_agent tester");
  assert.deepEqual([root.traceId, root.parentId], ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"]);
  for (const trace of ["", "00-0-0-01", CALLER.slice(1), `${CALLER}x`]) {
    const own = named(spansOf([started({ trace }), ...rest]), "invoke_agent tester");
    assert.deepEqual([own.traceId, own.parentId], [traceOf(RUN, {}).traceId, undefined], trace);
  }
});

test("every process that reads the journal gives the same spans, and another run gives others", () => {
  assert.deepEqual(spansOf(STORY), spansOf(STORY));
  const others = new Set(spansOf(STORY, "run_2").map(({ spanId }) => spanId));
  assert.ok(spansOf(STORY).every(({ spanId }) => !others.has(spanId)));
  assert.match(spanIdOf(RUN, "x"), /^[0-9a-f]{16}$/);
  assert.match(traceOf(RUN, {}).traceId, /^[0-9a-f]{32}$/);
});

test("a run that ends anywhere leaves no span open and none below nothing", () => {
  const ends: readonly Event[] = [
    { type: "run.finished", result: "" },
    { type: "run.failed", fault: FAULT },
    { type: "run.aborted", reason: "stopped" },
  ];
  fc.assert(
    fc.property(fc.integer({ min: 1, max: STORY.length - 1 }), fc.constantFrom(...ends), (length, end) => {
      const spans = spansOf([...STORY.slice(0, length), end]);
      const ids = new Set(spans.map(({ spanId }) => spanId));
      const roots = spans.filter(({ parentId }) => parentId === undefined);
      assert.equal(roots.length, 1);
      for (const { parentId, startedAt, endedAt } of spans) {
        assert.ok(parentId === undefined || ids.has(parentId));
        assert.ok(startedAt <= endedAt);
      }
      // What was begun has ended: as many spans as there were beginnings, and the run.
      const begun = STORY.slice(0, length).filter(({ type }) =>
        ["model.called", "question.asked", "action.started"].includes(type),
      ).length;
      const steps = STORY.slice(0, length).filter(
        (event) => event.type === "model.called" && event.attempt === 1,
      ).length;
      assert.equal(spans.length, begun + steps + 1);
    }),
  );
});

test("a summary has a span of its own in its step, and entries without a start give nothing", () => {
  const compacted = { type: "context.compacted", usage: USAGE, turns: 1 } as unknown as Event;
  const spans = spansOf([started(), called(1), replied, called(1, 1, { summary: true }), compacted, STORY.at(-1)!]);
  assert.equal(spans.filter(({ name }) => name.startsWith("chat ")).length, 2);
  assert.equal(spans.filter(({ name }) => name === "step 1").length, 1);
  assert.deepEqual(spansOf(STORY.slice(1)), []);
});
