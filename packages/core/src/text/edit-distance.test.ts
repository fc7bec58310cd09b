import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { editDistance } from "./edit-distance.ts";

const word = fc.array(fc.constantFrom("a", "b", "c", "é"), { maxLength: 8 }).map((letters) => letters.join(""));

test("one edit of each kind is a distance of one", () => {
  for (const [left, right] of [
    ["status", "statu"],
    ["status", "sstatus"],
    ["status", "stetus"],
    ["status", "sattus"],
    ["ab", "ba"],
    ["", "a"],
  ] as const)
    assert.equal(editDistance(left, right), 1, `${left} ${right}`);
});

test("the distance is zero for equal words alone, the same in both directions, and no more than the longer word", () => {
  fc.assert(
    fc.property(word, word, (left, right) => {
      const distance = editDistance(left, right);
      assert.equal(distance === 0, left === right);
      assert.equal(distance, editDistance(right, left));
      assert.ok(distance <= Math.max(left.length, right.length));
      assert.ok(distance >= Math.abs(left.length - right.length));
    }),
  );
});

test("letters that both words begin and end with do not count", () => {
  fc.assert(
    fc.property(word, word, word, (left, right, same) => {
      assert.ok(editDistance(same + left, same + right) <= editDistance(left, right));
      assert.ok(editDistance(left + same, right + same) <= editDistance(left, right));
    }),
  );
});

test("each single edit of a word changes its distance to another by one at most", () => {
  fc.assert(
    fc.property(word, word, fc.nat(8), fc.constantFrom("a", "b", ""), (left, right, place, letter) => {
      const at = Math.min(place, left.length);
      const edited = left.slice(0, at) + letter + left.slice(at + 1);
      // Swaps of neighbours make the distance no metric, but one edit is never worth more than two.
      assert.ok(Math.abs(editDistance(edited, right) - editDistance(left, right)) <= 2);
    }),
  );
});
