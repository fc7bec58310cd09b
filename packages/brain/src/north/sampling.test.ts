import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { SAMPLING_LIMITS } from "@vidro/core";
import { samplingOf } from "./sampling.ts";

test("nothing given, and only nulls, are no parameters", () => {
  assert.equal(samplingOf({}), undefined);
  const nulls = { temperature: null, top_p: null, max_tokens: null, repeat_penalty: null, stop: null };
  assert.equal(samplingOf(nulls), undefined);
});

test("stop words are a list; empty ones are none, and of none there is no list", () => {
  assert.deepEqual(samplingOf({ stop: "END" }), { stop: ["END"] });
  assert.deepEqual(samplingOf({ stop: ["a", "", "b"] }), { stop: ["a", "b"] });
  for (const stop of ["", [], [""], ["", ""]]) assert.equal(samplingOf({ stop }), undefined, JSON.stringify(stop));
  assert.deepEqual(samplingOf({ stop: " " }), { stop: [" "] });
});

test("each number is held within its range, and zero is a number", () => {
  const { temperature, topP, maxTokens, repeatPenalty } = SAMPLING_LIMITS;
  assert.deepEqual(samplingOf({ temperature: 0 }), { temperature: Math.max(0, temperature.least) });
  for (const [given, key, range] of [
    ["temperature", "temperature", temperature],
    ["top_p", "topP", topP],
    ["max_tokens", "maxTokens", maxTokens],
    ["repeat_penalty", "repeatPenalty", repeatPenalty],
  ] as const)
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const read = samplingOf({ [given]: value })?.[key] ?? assert.fail(given);
        assert.ok(read >= range.least && read <= range.most, `${given} ${value} became ${read}`);
        if (value >= range.least && value <= range.most) assert.ok(read === value);
      }),
    );
});

test("a wire without a bound on tokens names its own", () => {
  const most = SAMPLING_LIMITS.maxTokens.most;
  assert.deepEqual(samplingOf({ max_tokens: most + 1 }), { maxTokens: most });
  assert.deepEqual(samplingOf({ max_tokens: most + 1 }, Number.MAX_SAFE_INTEGER), { maxTokens: most + 1 });
});
