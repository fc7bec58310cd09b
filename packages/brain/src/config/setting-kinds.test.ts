import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText, oneOf, textList, wholeNumber, yesOrNo } from "./setting-kinds.ts";

const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  {},
  [],
  Number.NaN,
  Infinity,
  -0.5,
  () => 1,
  Symbol("x"),
  "\0",
  "[]",
];

test("a text is trimmed, and a blank one is no value", () => {
  assert.equal(anyText.read("  a b "), "a b");
  for (const none of ["", "  ", 7, true, null]) assert.equal(anyText.read(none), undefined);
});

test("a list is an array of texts or one text with commas", () => {
  assert.deepEqual(textList.read("a, b,,c "), ["a", "b", "c"]);
  assert.deepEqual(textList.read(["a", " b "]), ["a", "b"]);
  assert.deepEqual(textList.read(""), []);
  for (const wrong of [["a", 7], ["a", ""], 7, { 0: "a" }, null]) assert.equal(textList.read(wrong), undefined);
});

test("yes and no are few words", () => {
  for (const yes of [true, "true", "1"]) assert.equal(yesOrNo.read(yes), true);
  for (const no of [false, "false", "0"]) assert.equal(yesOrNo.read(no), false);
  for (const wrong of ["yes", "TRUE", 1, 0, "", null]) assert.equal(yesOrNo.read(wrong), undefined);
});

test("a number is whole, within its bounds, and written in digits alone", () => {
  const port = wholeNumber(0, 65_535);
  for (const [given, read] of [
    ["3120", 3120],
    [3120, 3120],
    ["0", 0],
    ["65535", 65_535],
    ["007", 7],
  ] as const)
    assert.equal(port.read(given), read);
  for (const wrong of ["65536", "-1", "1e3", "0x10", " 7", "7.0", 7.5, "", "９", "1".repeat(400), true])
    assert.equal(port.read(wrong), undefined, String(wrong));
  fc.assert(
    fc.property(fc.anything(), (given) => {
      const read = port.read(given);
      assert.ok(read === undefined || (Number.isInteger(read) && read >= 0 && read <= 65_535));
    }),
  );
});

test("one of several words is exactly one of them", () => {
  const kind = oneOf("resume", "ask");
  assert.equal(kind.read("ask"), "ask");
  for (const wrong of ["Ask", "ask ", "", ["ask"]]) assert.equal(kind.read(wrong), undefined);
  assert.equal(kind.allowed, "resume or ask");
});

test("no kind throws, whatever a file holds", () => {
  for (const kind of [anyText, textList, yesOrNo, wholeNumber(1, 2), oneOf("a")])
    for (const given of HOSTILE) assert.doesNotThrow(() => kind.read(given));
});
