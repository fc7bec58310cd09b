import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  anyCase,
  beginningsOf,
  charRun,
  cutOffSource,
  either,
  literal,
  longestLength,
  shortestLength,
  wholeSource,
} from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

const isWhole = (pattern: Pattern, text: string): boolean => new RegExp(`^(?:${wholeSource(pattern)})$`).test(text);
const isCutOff = (pattern: Pattern, text: string): boolean => new RegExp(`^(?:${cutOffSource(pattern)})`).test(text);

/** A key of a vendor: letters, a choice, and runs of characters. */
const KEY: Pattern = [
  ...literal("sk-"),
  either(literal("live"), [...literal("t"), charRun("[0-9]", 1, 3)]),
  charRun("_", 0, 1),
  charRun("[a-z]", 2, 4),
];
const KEYS = fc
  .tuple(
    fc.oneof(fc.constant("live"), fc.stringMatching(/^t[0-9]{1,3}$/)),
    fc.constantFrom("", "_"),
    fc.stringMatching(/^[a-z]{2,4}$/),
  )
  .map((parts) => `sk-${parts.join("")}`);

void test("a whole is matched whole, and nothing shorter, longer or other is", () => {
  fc.assert(fc.property(KEYS, (key) => isWhole(KEY, key)));
  for (const text of [
    "",
    "sk-",
    "sk-live",
    "sk-livea",
    "sk-liveabcde",
    "sk-t_ab",
    "sk-t1234ab",
    "sk-live__ab",
    "SK-liveab",
  ])
    assert.equal(isWhole(KEY, text), false, text);
});

void test("each beginning of a whole is known as cut off, and the empty one never", () => {
  fc.assert(
    fc.property(KEYS, fc.nat(), (key, cut) => {
      const length = 1 + (cut % key.length);
      assert.ok(isCutOff(KEY, key.slice(0, length)), key.slice(0, length));
    }),
  );
  assert.equal(isCutOff(KEY, ""), false);
  assert.equal(isCutOff([], ""), false);
});

void test("what goes on in another way is no beginning", () => {
  for (const text of ["x", "sk_", "sk-x", "sk-tl", "sk-live?", "sk-liveab?", "sk-t12345"])
    assert.equal(isCutOff(KEY, text), false, text);
});

void test("the lengths of a pattern bound each of its texts, and both bounds are reached", () => {
  const [shortest, longest] = [shortestLength(KEY), longestLength(KEY)];
  assert.deepEqual([shortest, longest], ["sk-t1ab".length, "sk-live_abcd".length]);
  fc.assert(fc.property(KEYS, (key) => key.length >= shortest && key.length <= longest));
  assert.deepEqual([shortestLength([]), longestLength([])], [0, 0]);
});

void test("letters stand for themselves also where a regular expression has a meaning for them", () => {
  const marks = fc.constantFrom(...".*+?^$(){}|[]\\/-_ aZ0=:;,!<>@#%&'\"`~".split(""));
  fc.assert(
    fc.property(fc.array(marks, { minLength: 1, maxLength: 8 }), (letters) => {
      const text = letters.join("");
      assert.ok(isWhole(literal(text), text), text);
      assert.ok(isWhole(anyCase(text), text.toUpperCase()), text);
      assert.equal(isWhole(literal(text), `${text}x`), false);
    }),
  );
});

void test("letters in either case match in any mixture of cases", () => {
  for (const text of ["bearer", "BEARER", "bEaReR"]) assert.ok(isWhole(anyCase("Bearer"), text), text);
  assert.equal(isWhole(literal("Bearer"), "bearer"), false);
});

void test("the beginnings of a pattern fit the first characters of each of its texts", () => {
  for (const chars of [1, 2, 4, 6]) {
    const ways = beginningsOf(KEY, chars).map((sets) => new RegExp(`^${sets.join("")}`));
    fc.assert(fc.property(KEYS, (key) => ways.some((way) => way.test(key))));
    assert.equal(
      ways.some((way) => way.test("password")),
      false,
    );
  }
});

void test("a run that may be empty is both left out and taken at the beginning", () => {
  const pattern: Pattern = [charRun("a", 0, 2), ...literal("b")];
  assert.deepEqual(
    beginningsOf(pattern, 2).map((sets) => sets.join("")),
    ["aa", "ab", "b"],
  );
  for (const text of ["b", "ab", "aab"]) assert.ok(isWhole(pattern, text), text);
  assert.equal(isWhole(pattern, "aaab"), false);
});
