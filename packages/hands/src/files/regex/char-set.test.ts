import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ANY, DIGITS, foldCase, holds, negate, SPACE, unite, WORD } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";

const LAST = 0x10ffff;
const code = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: LAST }),
  fc.constantFrom(9, 10, 11, LAST),
);
const range = fc.tuple(code, code).map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);
const set: fc.Arbitrary<CharSet> = fc.array(range, { maxLength: 6 });

/** Whether ranges are sorted, and none touches the next. */
function assertNormal(ranges: CharSet): void {
  for (const [at, [low, high]] of ranges.entries()) {
    assert.ok(low <= high && low >= 0 && high <= LAST);
    assert.ok(at === 0 || low > (ranges[at - 1]?.[1] ?? -2) + 1, "ranges do not touch");
  }
}

test("united ranges hold the same characters as before, in order and without overlap", () => {
  fc.assert(
    fc.property(set, fc.array(code, { maxLength: 20 }), (ranges, codes) => {
      const united = unite(ranges);
      assertNormal(united);
      for (const one of [...codes, ...ranges.flat()]) assert.equal(holds(united, one), holds(ranges, one));
    }),
  );
});

test("the negation of a set holds what the set does not, but for the end of a line, and twice negated it is the set", () => {
  fc.assert(
    fc.property(set, fc.array(code, { maxLength: 20 }), (ranges, codes) => {
      const others = negate(ranges);
      assertNormal(others);
      for (const one of [...codes, ...ranges.flat().flatMap((edge) => [edge - 1, edge, edge + 1])]) {
        if (one < 0 || one > LAST) continue;
        assert.equal(holds(others, one), one !== 10 && !holds(ranges, one), String(one));
        assert.equal(holds(negate(others), one), one !== 10 && holds(ranges, one), String(one));
      }
    }),
  );
});

test("the set of all and of nothing are each other's negations", () => {
  assert.deepEqual(negate([]), ANY);
  assert.deepEqual(negate(ANY), []);
  assert.deepEqual(negate([[0, LAST]]), []);
});

test("a folded set holds both cases of each of its letters, as JavaScript's own engine matches them", () => {
  for (const letters of ["a", "Z", "é", "É", "ß", "ñ", "ж", "Σ", "1", "-", "ǆ", "𐐀"]) {
    const own = letters.codePointAt(0) ?? 0;
    const folded = foldCase([[own, own]]);
    for (const other of [letters, letters.toLowerCase(), letters.toUpperCase()])
      if (Array.from(other).length === 1)
        assert.equal(holds(folded, other.codePointAt(0) ?? 0), true, `${letters} ${other}`);
    assert.equal(holds(folded, "q".codePointAt(0) ?? 0), false);
  }
  fc.assert(
    fc.property(fc.integer({ min: 32, max: 0x24f }), (low) => {
      const folded = foldCase([[low, low]]);
      assertNormal(folded);
      assert.equal(holds(folded, low), true);
      assert.deepEqual(foldCase(folded).length >= folded.length, true);
    }),
  );
});

test("large and small ranges are folded alike", () => {
  const plainly = (ranges: CharSet): CharSet =>
    unite(
      ranges.flatMap(([low, high]) =>
        Array.from({ length: high - low + 1 }, (_, at) => foldCase([[low + at, low + at]])).flat(),
      ),
    );
  for (const large of [
    [[0, 0x17f]],
    [[0x61, 0x400]],
    [[0x1e00, 0x2000]],
    [[0x10400, 0x10600]],
    [[0x100, 0x1ff]],
    [[0x100, 0x200]],
    [
      [0x41, 0x41],
      [0x300, 0x500],
    ],
  ] satisfies CharSet[])
    assert.deepEqual(foldCase(large), plainly(large), JSON.stringify(large));
});

test("a pattern of many large ranges is folded in no long time", () => {
  assert.deepEqual(foldCase([[0, LAST]]), [[0, LAST]]);
  for (let nth = 0; nth < 500; nth += 1) foldCase(negate(WORD));
});

test("the named sets hold what the escapes of JavaScript match", () => {
  for (let one = 0; one <= 0x3001; one += 1) {
    const char = String.fromCodePoint(one);
    assert.equal(holds(DIGITS, one), /\d/u.test(char), `digit ${one}`);
    assert.equal(holds(WORD, one), /\w/u.test(char), `word ${one}`);
    assert.equal(holds(SPACE, one), /\s/u.test(char), `space ${one}`);
  }
});
