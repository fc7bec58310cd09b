import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Model, ModelEvent, ModelPrice } from "@vidro/core";
import { costOf, FREE, withPrices } from "./price.ts";

const DAY = new Date("2026-06-15T12:00:00Z");
const usage = (inputTokens: number, outputTokens: number, more: object = {}) => ({
  inputTokens,
  outputTokens,
  ...more,
});

test("a call costs its tokens by the million, those of the cache at their own price", () => {
  const price: ModelPrice = { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 };
  assert.equal(costOf(usage(1_000_000, 0), [price], DAY), 3);
  assert.equal(costOf(usage(0, 1_000_000), [price], DAY), 15);
  assert.equal(costOf(usage(1_000_000, 0, { cachedTokens: 1_000_000 }), [price], DAY), 0.3);
  assert.equal(costOf(usage(1_000_000, 0, { cacheWriteTokens: 1_000_000 }), [price], DAY), 3.75);
  assert.equal(costOf(usage(1000, 0, { cachedTokens: 400, cacheWriteTokens: 100 }), [price], DAY), 0.001995);
  assert.equal(costOf(usage(1_000_000, 0, { cachedTokens: 1_000_000 }), [{ input: 3, output: 15 }], DAY), 3);
});

test("of the prices that hold, by the day and the length of the prompt, the last one counts", () => {
  const prices: readonly ModelPrice[] = [
    { input: 1, output: 1 },
    { input: 2, output: 1, abovePromptTokens: 200_000 },
    { input: 4, output: 1, from: "2026-06-15" },
    { input: 9, output: 1, from: "2026-06-16" },
  ];
  assert.equal(costOf(usage(1_000_000, 0), prices.slice(0, 2), DAY), 2);
  assert.equal(costOf(usage(200_000, 0), prices.slice(0, 2), DAY), 0.2);
  assert.equal(costOf(usage(1_000_000, 0), prices, DAY), 4);
  assert.equal(costOf(usage(1_000_000, 0), prices, new Date("2026-06-14T23:59:59Z")), 2);
  assert.equal(costOf(usage(1, 1), prices.slice(3), DAY), undefined);
  assert.equal(costOf(usage(1, 1), [], DAY), undefined);
});

test("no count of a server makes a cost below nothing", () => {
  const count = fc.nat(10_000_000);
  fc.assert(
    fc.property(count, count, count, count, (inputTokens, outputTokens, cachedTokens, cacheWriteTokens) => {
      const cost = costOf(
        { inputTokens, outputTokens, cachedTokens, cacheWriteTokens },
        [{ input: 3, output: 15, cached: 0.3 }],
        DAY,
      );
      assert.ok(cost !== undefined && cost >= 0 && Number.isFinite(cost));
    }),
  );
});

const model: Model = {
  name: "m",
  async *call(): AsyncGenerator<ModelEvent> {
    yield { type: "delta", text: "a" };
    yield { type: "replied", reply: { model: "m", text: "a", calls: [], usage: usage(1_000_000, 0) } };
  },
};

async function usagesOf(priced: Model): Promise<readonly unknown[]> {
  const usages: unknown[] = [];
  for await (const event of priced.call({ system: "", turns: [], tools: [] }, new AbortController().signal))
    if (event.type === "replied") usages.push(event.reply.usage);
  return usages;
}

test("a reply carries its cost; a free model has none, and one without prices tells the tokens that are in no cost", async () => {
  const tokens = usage(1_000_000, 0);
  const priced = withPrices(model, [{ input: 3, output: 15 }]);
  assert.deepEqual(await usagesOf(priced), [{ ...tokens, costUsd: 3 }]);
  assert.deepEqual([priced.isPriced, priced.isFree], [true, undefined]);
  const free = withPrices(model, FREE);
  assert.deepEqual(await usagesOf(free), [tokens]);
  assert.deepEqual([free.isPriced, free.isFree], [true, true]);
  for (const prices of [undefined, []]) {
    const unknown = withPrices(model, prices);
    assert.deepEqual(await usagesOf(unknown), [{ ...tokens, unpricedTokens: 1_000_000 }]);
    assert.deepEqual([unknown.isPriced, unknown.isFree], [undefined, undefined]);
  }
  // A price that begins tomorrow is not known today.
  const later = withPrices(model, [{ input: 3, output: 15, from: "9999-01-01" }]);
  assert.deepEqual(await usagesOf(later), [{ ...tokens, unpricedTokens: 1_000_000 }]);
});
