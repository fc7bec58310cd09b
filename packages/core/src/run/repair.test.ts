import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../event.ts";
import type { FaultReport } from "../fault.ts";
import { MODEL_LIMITS } from "../limits.ts";
import { decide } from "./decide.ts";
import { TOOLS_IN_TEXT, windowNamedIn } from "./heal.ts";
import { buildPrompt } from "./prompt.ts";
import { reduce } from "./run.ts";
import type { RunState } from "./run.ts";
import { turnsOf } from "./turns.ts";
import { stateOf } from "./walk.fixture.ts";

/* Repairs of a conversation that the model's server refuses: repeating the same request would be refused again. */

const MOMENT = { run: "run_1", now: 2000, chance: 0 };
const FULL: FaultReport = { code: "MODEL_CONTEXT_FULL", message: "prompt is too long" };
const REFUSED: FaultReport = { code: "MODEL_HISTORY_REFUSED", message: "Invalid `signature`" };
const USAGE = { inputTokens: 1, outputTokens: 1 };

function after(state: RunState, ...events: readonly Event[]): RunState {
  return events.reduce((last, event) => reduce(last, { seq: last.seq + 1, at: 2000, event }), state);
}

/** Records what is decided until the model is called, or the run is over; gives the events and the state. */
function recordUntilCall(state: RunState): { readonly events: readonly Event[]; readonly state: RunState } {
  const events: Event[] = [];
  for (let last = state; ;) {
    const decision = decide(last, MOMENT);
    if (decision.do !== "record") return { events, state: last };
    events.push(decision.event);
    last = after(last, decision.event);
  }
}

/** A conversation of steps with long outputs and signed thinking. */
function conversation(steps: number, outputChars: number): RunState {
  let state = stateOf();
  for (let step = 0; step < steps; step++) {
    const id = `act_${step}`;
    const action = { id, tool: "echo", input: { text: id }, callId: id };
    const parts = {
      from: "m",
      items: [
        { kind: "thinking", text: "", opaque: { v: { signature: "s" } } },
        { kind: "call", callId: id, tool: "echo" },
      ],
    } as const;
    state = after(
      state,
      { type: "model.called", step: step + 1, attempt: 1 },
      { type: "model.replied", model: "m", text: "", usage: USAGE, action, parts },
      { type: "action.failed", action: id, fault: { code: "TOOL_FAILED", message: "x".repeat(outputChars) } },
    );
  }
  return state;
}

const refuse = (state: RunState, fault: FaultReport): RunState =>
  after(state, { type: "model.failed", attempt: state.attempt, fault });
const typesOf = (events: readonly Event[]): readonly string[] =>
  events.map((event) => (event.type === "heal.tried" ? event.healing : event.type));

test("a window without room: the conversation is shortened and the model asked again, each time by more", () => {
  let { state } = recordUntilCall(conversation(12, 3000));
  const sizes = [state.turns.chars];
  for (const fresh of MODEL_LIMITS.squeezedFreshTurns) {
    const repaired = recordUntilCall(refuse(state, FULL));
    assert.deepEqual(typesOf(repaired.events), ["compact_context", "context.compacted", "model.called"]);
    assert.equal(repaired.events[1]?.type === "context.compacted" && repaired.events[1].fresh, fresh);
    state = repaired.state;
    sizes.push(state.turns.chars);
  }
  assert.ok(
    sizes.every((size, index) => index === 0 || size <= (sizes[index - 1] ?? 0) / 2 || size < 4000),
    JSON.stringify(sizes),
  );
  assert.deepEqual(typesOf(recordUntilCall(refuse(state, FULL)).events), ["run.failed"]);
});

test("a call is never separated from its result, however much is left out", () => {
  let { state } = recordUntilCall(conversation(12, 3000));
  for (let squeeze = 0; squeeze < 3; squeeze++) {
    ({ state } = recordUntilCall(refuse(state, FULL)));
    const turns = turnsOf(state.turns);
    assert.notEqual(turns[0]?.role, "tool");
    for (const [index, turn] of turns.entries())
      if (turn.role === "assistant") assert.equal(turns[index + 1]?.role, "tool");
  }
});

test("the length that a window had no room for is remembered: later steps are shortened before it is reached", () => {
  const full = recordUntilCall(refuse(recordUntilCall(conversation(12, 3000)).state, FULL)).state;
  const { mostChars } = full.context;
  assert.ok(mostChars < 40_000 && mostChars >= MODEL_LIMITS.leastContextChars, String(mostChars));
  const answered = after(full, { type: "model.replied", model: "m", text: "go on", usage: USAGE, written: "{}" });
  assert.equal(answered.context.squeezes, 0, "a reply shows that there is room");
  assert.equal(answered.context.mostChars, mostChars);
});

test("a refused signature: the thinking is left out once, and a second refusal is final", () => {
  const { state } = recordUntilCall(conversation(3, 10));
  const repaired = recordUntilCall(refuse(state, REFUSED));
  assert.deepEqual(typesOf(repaired.events), ["drop_thinking", "model.called"]);
  assert.ok(!JSON.stringify(turnsOf(repaired.state.turns)).includes("signature"));
  assert.ok(JSON.stringify(turnsOf(state.turns)).includes("signature"), "the state before is unchanged");
  assert.deepEqual(typesOf(recordUntilCall(refuse(repaired.state, REFUSED)).events), ["run.failed"]);
});

test("a window that the refusal names is known from then on, and so is one that a reply names", () => {
  const { state } = recordUntilCall(conversation(12, 3000));
  const message = "m answered 400: request (9000 tokens) exceeds the available context size (8192 tokens)";
  const repaired = recordUntilCall(refuse(state, { ...FULL, message }));
  assert.equal(repaired.state.context.window, 8192);
  const counted = { inputTokens: 5000, outputTokens: 1 };
  const told = after(repaired.state, {
    type: "model.replied",
    model: "m",
    text: "go on",
    usage: counted,
    window: 4096,
  });
  assert.equal(told.context.window, 4096);
  assert.ok(told.context.mostChars < repaired.state.context.mostChars, "a smaller window has less room");
});

test("servers name their windows in their own words", () => {
  for (const [words, window] of [
    ['{"error":{"type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}', 8192],
    ["This model's maximum context length is 32,768 tokens. However, you requested 40000", 32_768],
    ["prompt is too long: 204800 tokens > 200000 maximum", 200_000],
    ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
    ["input is too long", undefined],
    ["maximum context length is 3 tokens", undefined],
  ] as const)
    assert.equal(windowNamedIn(words), window, words);
});

test("a model whose server takes no tools is remembered with the run", () => {
  const { state } = recordUntilCall(stateOf());
  const heal = { healing: TOOLS_IN_TEXT, description: "", severity: "medium", attempt: 1, delayMs: 0 } as const;
  const healed = after(state, { type: "heal.tried", ...heal, metadata: { model: "ollama/gemma" } });
  assert.equal(healed.phase.name, "calling-model", "the call goes on");
  assert.deepEqual(buildPrompt(healed).inText, ["ollama/gemma"]);
  assert.equal(buildPrompt(state).inText, undefined);
});
