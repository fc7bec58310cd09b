import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { dollars, factsByModel, modelPrice } from "./model-kinds.ts";

test("a price is two to four amounts, and each has its meaning", () => {
  assert.deepEqual(modelPrice.read("1/2"), { input: 1, output: 2 });
  assert.deepEqual(modelPrice.read(" 0.5 / 2.25 / 0 "), { input: 0.5, output: 2.25, cached: 0 });
  assert.deepEqual(modelPrice.read("1/2/3/4"), { input: 1, output: 2, cached: 3, cacheWrite: 4 });
  for (const wrong of [
    "",
    "1",
    "1/",
    "/1",
    "1/2/3/4/5",
    "1/-2",
    "1/2e3",
    "1,5/2",
    "1/NaN",
    "1/∞",
    "1/2.1234567",
    7,
    null,
    [1, 2],
  ])
    assert.equal(modelPrice.read(wrong), undefined, String(wrong));
});

test("amounts are read as they are written, up to a million with six digits behind the point", () => {
  const amount = fc.tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 999_999 }));
  fc.assert(
    fc.property(amount, amount, ([a, b], [c, d]) => {
      const [input, output] = [`${a}.${b}`, `${c}.${d}`];
      assert.deepEqual(modelPrice.read(`${input}/${output}`), { input: Number(input), output: Number(output) });
    }),
  );
  assert.deepEqual(modelPrice.read("999999.999999/0"), { input: 999_999.999999, output: 0 });
  assert.equal(modelPrice.read("1000000/0"), undefined);
});

test("a bound in dollars is above nothing and below a million", () => {
  for (const [given, read] of [
    ["2.50", 2.5],
    [" 7 ", 7],
    [0.01, 0.01],
    [999_999, 999_999],
    ["0.000001", 0.000001],
  ] as const)
    assert.equal(dollars.read(given), read);
  for (const wrong of [
    "0",
    0,
    -1,
    "-1",
    1_000_000,
    "$5",
    "5 USD",
    "",
    " ",
    Infinity,
    Number.NaN,
    true,
    null,
    {},
    "1e3",
  ])
    assert.equal(dollars.read(wrong), undefined, JSON.stringify(wrong));
});

test("facts are read from an object and from the same as text", () => {
  const facts = { "my/model:q4": { window: 32_768, answer: 1, tools: true, prices: [{ input: 0, output: 0 }] } };
  assert.deepEqual(factsByModel.read(facts), facts);
  assert.deepEqual(factsByModel.read(JSON.stringify(facts)), facts);
  assert.deepEqual(factsByModel.read("{}"), {});
});

test("a fact that there is not, or of another kind, is refused with all others", () => {
  const wrong: readonly unknown[] = [
    { windows: 1 },
    { window: 0 },
    { window: 1.5 },
    { window: "1000" },
    { tools: "yes" },
    { vendor: 7 },
    { prices: [] },
    { prices: {} },
    { prices: [{ input: 1 }] },
    { prices: [{ output: 1 }] },
    { prices: [{ input: 1, output: 2, cash: 3 }] },
    { prices: [{ input: -1, output: 2 }] },
    { prices: [{ input: 1, output: 1_000_000 }] },
    { prices: [{ input: 1, output: 2, abovePromptTokens: 0 }] },
    { constructor: 1 },
    [],
    null,
    7,
  ];
  for (const facts of wrong)
    assert.equal(factsByModel.read({ good: { window: 5 }, bad: facts }), undefined, JSON.stringify(facts));
  for (const text of ["", "{", "[]", "null", "7", '"{}"']) assert.equal(factsByModel.read(text), undefined, text);
});

test("the day of a price is one of the calendar", () => {
  const withDay = (from: unknown) => factsByModel.read({ m: { prices: [{ input: 1, output: 2, from }] } });
  for (const day of ["2026-12-01", "2028-02-29", "0001-01-01"]) assert.ok(withDay(day) !== undefined, day);
  for (const day of [
    "2026-13-01",
    "2026-02-30",
    "2027-02-29",
    "2026-00-10",
    "2026-1-1",
    "26-01-01",
    "2026-12-01T00:00",
    "",
    20_261_201,
    null,
  ])
    assert.equal(withDay(day), undefined, String(day));
});

test("no kind throws, whatever a file holds", () => {
  fc.assert(
    fc.property(fc.anything(), (given) => {
      for (const kind of [modelPrice, dollars, factsByModel]) assert.doesNotThrow(() => kind.read(given));
    }),
  );
});
