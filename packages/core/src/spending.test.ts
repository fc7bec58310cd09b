import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Event, Usage } from "./event.ts";
import { addSpending, NO_SPENDING, SPENDING_FIELDS, spendingIn } from "./spending.ts";
import type { UsageTotal } from "./spending.ts";
import { addUsage, usageIn } from "./usage.ts";

const count = fc.nat(1_000_000);
const optional = fc.option(count, { nil: undefined });
const usage: fc.Arbitrary<Usage> = fc
  .record({
    inputTokens: count,
    outputTokens: count,
    cachedTokens: optional,
    cacheWriteTokens: optional,
    thinkingTokens: optional,
    unpricedTokens: optional,
    costUsd: optional,
  })
  .map(
    (parts) => Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as unknown as Usage,
  );
const total: fc.Arbitrary<UsageTotal> = fc
  .array(count, { minLength: SPENDING_FIELDS.length, maxLength: SPENDING_FIELDS.length })
  .map((sums) => Object.fromEntries(SPENDING_FIELDS.map((field, at) => [field, sums[at]])) as unknown as UsageTotal);

test("usages and spendings are added in any order and grouping with the same sum", () => {
  fc.assert(
    fc.property(usage, usage, usage, (one, two, three) => {
      assert.deepEqual(addUsage(one, two), addUsage(two, one));
      assert.deepEqual(addUsage(addUsage(one, two), three), addUsage(one, addUsage(two, three)));
    }),
  );
  fc.assert(
    fc.property(total, total, total, (one, two, three) => {
      assert.deepEqual(addSpending(one, two), addSpending(two, one));
      assert.deepEqual(addSpending(addSpending(one, two), three), addSpending(one, addSpending(two, three)));
      assert.deepEqual(addSpending(one, NO_SPENDING), one);
    }),
  );
});

test("a part that no usage counts stays absent, and one that any counts is there", () => {
  fc.assert(
    fc.property(usage, usage, (one, other) => {
      const sum = addUsage(one, other);
      for (const part of ["cachedTokens", "cacheWriteTokens", "thinkingTokens", "unpricedTokens", "costUsd"] as const)
        assert.equal(part in sum, part in one || part in other, part);
    }),
  );
});

test("every field of a spending is a sum, and nothing was used at first", () => {
  assert.deepEqual(new Set(Object.keys(NO_SPENDING)), new Set(SPENDING_FIELDS));
  for (const field of SPENDING_FIELDS) assert.equal(NO_SPENDING[field], 0);
});

test("a run is counted once, at its first call, and not again when that is repeated or sums up", () => {
  const called = (more: object): Event => ({ type: "model.called", step: 1, attempt: 1, model: "m", ...more }) as Event;
  assert.equal(spendingIn(called({}))?.runs, 1);
  for (const more of [{ step: 2 }, { attempt: 2 }, { summary: true }])
    assert.equal(spendingIn(called(more)), undefined);
});

test("a reply is a step, a summary costs without being one, and other events cost nothing", () => {
  const used: Usage = { inputTokens: 5, outputTokens: 7, costUsd: 0.5 };
  const replied = { type: "model.replied", usage: used } as unknown as Event;
  const compacted = { type: "context.compacted", usage: used } as unknown as Event;
  assert.deepEqual(spendingIn(replied), { ...NO_SPENDING, ...used, steps: 1 });
  assert.deepEqual(spendingIn(compacted), { ...NO_SPENDING, ...used });
  assert.equal(usageIn({ type: "context.compacted" } as unknown as Event), undefined);
  assert.equal(spendingIn({ type: "run.finished", usage: used } as unknown as Event), undefined);
});
