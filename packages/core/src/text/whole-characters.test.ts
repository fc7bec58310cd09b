import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { headOf, tailOf } from "./whole-characters.ts";

test("a text that fits is the same text, also where it is no whole text itself", () => {
  for (const text of ["", "abc", "😀", "\ud83d", "\ude00x"]) {
    assert.equal(headOf(text, text.length), text);
    assert.equal(tailOf(text, text.length + 1), text);
  }
});

test("a cut inside a character leaves that character out, at every place", () => {
  const text = "a😀b😀";
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6].map((chars) => headOf(text, chars)),
    ["", "a", "a", "a😀", "a😀b", "a😀b", text],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6].map((chars) => tailOf(text, chars)),
    ["", "", "😀", "b😀", "b😀", "😀b😀", text],
  );
});

test("a half that stands alone is no reason to cut elsewhere", () => {
  assert.equal(headOf("\ud83dx", 1), "\ud83d");
  assert.equal(tailOf("x\ude00", 1), "\ude00");
  assert.equal(headOf("\ud83d\ud83d\ude00", 2), "\ud83d");
});

test("a part of any text is as long as asked for, but for half of a character, and whole where the text is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), fc.nat(40), (text, chars) => {
      const [head, tail] = [headOf(text, chars), tailOf(text, chars)];
      const most = Math.min(chars, text.length);
      for (const part of [head, tail]) {
        assert.ok(part.isWellFormed());
        assert.ok(part.length === most || part.length === most - 1);
      }
      assert.ok(text.startsWith(head) && text.endsWith(tail));
    }),
  );
});
