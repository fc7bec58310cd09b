/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AnswerStream, textRows } from "./answer-stream.ts";

const asIs = () => new AnswerStream(textRows(false, (_, text) => text));

test("a text gives the same rows in any pieces", () => {
  const text = fc.array(fc.constantFrom("one", " ", "two three", "\n", "\n\n", "é", "日本"), { maxLength: 30 });
  fc.assert(
    fc.property(text, fc.integer({ min: 5, max: 40 }), (pieces, columns) => {
      const whole = asIs();
      const rows = [...whole.push(pieces.join(""), columns), ...whole.end(columns)];
      const stream = asIs();
      assert.deepEqual([...pieces.flatMap((piece) => stream.push(piece, columns)), ...stream.end(columns)], rows);
      assert.equal(stream.hasShown(pieces.join("")), pieces.join("").trim() !== "");
    }),
  );
});

test("the line that is being written is shown as it grows and stays once it is complete", () => {
  const stream = asIs();
  assert.deepEqual(stream.push("\n\nThe di", 80), []);
  assert.deepEqual(stream.open(80), ["The di"]);
  assert.deepEqual(stream.push("sk is full.\nAnd", 80), ["The disk is full."]);
  assert.deepEqual(stream.open(80), ["And"]);
  assert.equal(stream.hasShown("The disk is full."), true);
  assert.deepEqual(stream.end(80), ["And"]);
  assert.deepEqual([stream.open(80), stream.end(80)], [[], []]);
  assert.equal(stream.hasShown("The disk is full."), false);
  assert.equal(stream.hasShown("\nThe disk is full.\nAnd\n"), true);
});

test("nothing was shown before anything was said", () => {
  const stream = asIs();
  assert.equal(stream.hasShown(""), false);
  stream.push("  \n \n", 80);
  assert.equal(stream.hasShown(""), false);
});

test("control characters of a model do not reach the terminal, also when they come in pieces", () => {
  const stream = asIs();
  const rows = ["\u001b", "[2J", "\u001b]0;title\u0007", "words\n"].flatMap((piece) => stream.push(piece, 80));
  assert.doesNotMatch(rows.join(""), /[\u0000-\u001f]/);
  assert.match(rows.join(""), /words/);
});
