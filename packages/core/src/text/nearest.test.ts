import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { editDistance } from "./edit-distance.ts";
import { nearest } from "./nearest.ts";

test("the edit distance is symmetric, zero only for equal words, and at most the longer word", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(word, word, (left, right) => {
      assert.equal(editDistance(left, right), editDistance(right, left));
      assert.equal(editDistance(left, right) === 0, left === right);
      assert.ok(editDistance(left, right) <= Math.max(left.length, right.length));
    }),
  );
  assert.equal(editDistance("naem", "name"), 1);
});

test("a misspelt word leads to the nearest one, and a strange word to none", () => {
  assert.equal(nearest("lsit", ["list", "last"]), "list");
  assert.equal(nearest("SHOWW", ["list", "show"]), "show");
  assert.equal(nearest("frobnicate", ["list", "show"]), undefined);
});
