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

test("a character, a line break or a control sequence that comes in two pieces is the same as in one", () => {
  const parts = fc.array(
    fc.constantFrom(
      "a",
      " ",
      "\n",
      "\r\n",
      "😀",
      "👩‍👩‍👧",
      "e\u0301",
      "\u001b[31m",
      "\u001b]0;t\u0007",
      "\u202e",
      "\u0000",
    ),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(
      parts,
      fc.array(fc.nat(60), { maxLength: 8 }),
      fc.integer({ min: 4, max: 30 }),
      (text, cuts, columns) => {
        const all = text.join("");
        const places = [...new Set([0, ...cuts.filter((at) => at < all.length), all.length])].sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, index) => all.slice(places[index], to));
        const [whole, cut] = [asIs(), asIs()];
        const rows = [...whole.push(all, columns), ...whole.end(columns)];
        assert.deepEqual([...pieces.flatMap((piece) => cut.push(piece, columns)), ...cut.end(columns)], rows);
        // An answer that was shown while it was written is not printed once more at the end of the run.
        assert.equal(cut.hasShown(all), rows.join("").trim() !== "");
        assert.doesNotMatch(rows.join(""), /[\u0000-\u001f\u202e]/);
      },
    ),
    { numRuns: 500 },
  );
});

test("half of a character at the end of a piece is shown as one that is missing, and whole with the next piece", () => {
  const stream = asIs();
  stream.push("ok \ud83d", 80);
  assert.deepEqual(stream.open(80), ["ok \ufffd"]);
  stream.push("\ude00!", 80);
  assert.deepEqual(stream.open(80), ["ok 😀!"]);
  assert.deepEqual(stream.end(80), ["ok 😀!"]);
  assert.equal(stream.hasShown("ok 😀!"), true);
});

test("a line of nothing but control characters is an empty line", () => {
  const stream = asIs();
  assert.deepEqual(stream.push("one\n\u001b[2K\u0007\ntwo\n\u001b[0m", 80), ["one", "", "two"]);
  assert.deepEqual([stream.open(80), stream.end(80)], [[], []]);
});

test("nothing is shown behind a piece that is missing, so that no sentence is made of two halves", () => {
  const stream = asIs();
  assert.deepEqual(stream.push("Do not ", 80, 0), []);
  assert.deepEqual(stream.push("the disk.\n", 80, 14), [], "the words between them are missing");
  assert.deepEqual(stream.push("Done.\n", 80, 24), []);
  assert.deepEqual(stream.open(80), ["Do not "]);
  assert.equal(stream.hasShown("Do not erase the disk.\nDone."), false);
  const late = asIs();
  assert.deepEqual(late.push("of a sentence\n", 80, 7), [], "the beginning was not seen");
  assert.equal(late.hasShown("the end of a sentence"), false);
});

test("control characters of a model do not reach the terminal, also when they come in pieces", () => {
  const stream = asIs();
  const rows = ["\u001b", "[2J", "\u001b]0;title\u0007", "words\n"].flatMap((piece) => stream.push(piece, 80));
  assert.doesNotMatch(rows.join(""), /[\u0000-\u001f]/);
  assert.match(rows.join(""), /words/);
});
