import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { MODEL_LIMITS } from "../limits.ts";
import { nextHealing, nextRepair, windowNamedIn } from "./heal.ts";
import type { ContextRoom } from "./context-room.ts";

const CODES = Object.keys(FAULTS) as FaultCode[];
const fault = (code: FaultCode, more: { readonly retryAfterMs?: number } = {}) => ({
  code,
  message: "It failed.",
  ...more,
});
const ROOM: ContextRoom = {
  window: undefined,
  mostChars: 1000,
  fixedChars: 10,
  squeezes: 0,
  isDue: false,
  isUnsigned: false,
};

test("only a fault that may pass is tried again, and only so often", () => {
  for (const code of CODES)
    for (let attempt = 1; attempt <= MODEL_LIMITS.attempts + 1; attempt += 1) {
      const isLeft = FAULTS[code].fate === "retry" && attempt < MODEL_LIMITS.attempts;
      assert.equal(nextHealing(fault(code), attempt, 0.5) !== undefined, isLeft, `${code} ${attempt}`);
    }
});

test("the delay grows to its cap, with jitter of a half at most", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: MODEL_LIMITS.attempts - 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, chance) => {
        const { delayMs, healing } = nextHealing(fault("MODEL_UNAVAILABLE"), attempt, chance) ?? {
          delayMs: -1,
          healing: "",
        };
        const full = Math.min(MODEL_LIMITS.backoffMs * 2 ** (attempt - 1), MODEL_LIMITS.backoffCapMs);
        assert.ok(delayMs >= full / 2 && delayMs <= full, String(delayMs));
        assert.equal(healing, "retry_with_backoff");
      },
    ),
  );
});

test("a pause that the server asks for is kept, up to a bound", () => {
  for (const [asked, kept] of [
    [0, 0],
    [2500, 2500],
    [1e12, MODEL_LIMITS.retryAfterCapMs],
  ] as const) {
    const healing = nextHealing(fault("MODEL_RATE_LIMITED", { retryAfterMs: asked }), 1, 0.5);
    assert.deepEqual([healing?.healing, healing?.delayMs], ["handle_rate_limit", kept]);
  }
});

test("an answer that makes no sense is asked for again at once", () => {
  const healing = nextHealing(fault("MODEL_RUBBISH"), 1, 0.5);
  assert.deepEqual([healing?.healing, healing?.delayMs], ["ask_again", 0]);
});

test("a conversation that is too long is shortened as often as there are steps for it", () => {
  const asked = { code: "MODEL_CONTEXT_FULL", message: "maximum context length is 8,192 tokens" } as const;
  for (let squeezes = 0; squeezes < 6; squeezes += 1) {
    const repair = nextRepair(asked, { attempt: 1, context: { ...ROOM, squeezes } });
    assert.equal(repair?.healing, squeezes < MODEL_LIMITS.squeezedFreshTurns.length ? "compact_context" : undefined);
    if (repair !== undefined) assert.equal(repair.metadata?.["window"], 8192);
  }
});

test("thinking that the server refuses is dropped once in a run", () => {
  const refused = { code: "MODEL_HISTORY_REFUSED", message: "bad signature" } as const;
  assert.equal(nextRepair(refused, { attempt: 1, context: ROOM })?.healing, "drop_thinking");
  assert.equal(nextRepair(refused, { attempt: 1, context: { ...ROOM, isUnsigned: true } }), undefined);
  assert.equal(nextRepair(fault("MODEL_REFUSED"), { attempt: 1, context: ROOM }), undefined);
});

test("the window that a server names in its refusal is found in the words of each", () => {
  const refusals: readonly (readonly [string, number | undefined])[] = [
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      128_000,
    ],
    ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
    ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
    ['{"error":{"type":"exceed_context_size_error","n_ctx": 4096,"n_prompt_tokens":5000}}', 4096],
    ["request (5000 tokens) exceeds the available context size (4096 tokens)", 4096],
    ["maximum prompt length is 131072 but the request contains 140000 tokens", 131_072],
    ["context window of 32,768 tokens", 32_768],
    ["context length is only 2048 tokens", 2048],
    ["context size (12)", undefined],
    ["the prompt is too long", undefined],
    ["", undefined],
  ];
  for (const [words, window] of refusals) assert.equal(windowNamedIn(words), window, words);
});
