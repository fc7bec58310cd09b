import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { blocksOf, piecesOf } from "../../packages/console/src/run/rich-text.ts";

test("paragraphs, headings, points, code and tables of a text are blocks", () => {
  const text =
    "# Found\nOne line\nand another\n\n- a\n  more of a\n- b\n\n3. c\n4) d\n```sh\nls -l\n\n# no heading\n```\n| x | y |\n|---|---|";
  assert.deepEqual(blocksOf(text), [
    { kind: "heading", text: "Found" },
    { kind: "lines", text: "One line\nand another" },
    { kind: "points", isCounted: false, first: 1, points: ["a\n  more of a", "b"] },
    { kind: "points", isCounted: true, first: 3, points: ["c", "d"] },
    { kind: "code", text: "ls -l\n\n# no heading" },
    { kind: "code", text: "| x | y |\n|---|---|" },
  ]);
});

test("a quoted output keeps its columns", () => {
  assert.deepEqual(blocksOf("It has 2 entries:\n     │ a  1\n     │ b  2"), [
    { kind: "lines", text: "It has 2 entries:" },
    { kind: "code", text: "     │ a  1\n     │ b  2" },
  ]);
});

test("code that is still being written is code already", () => {
  assert.deepEqual(blocksOf("See:\n```\nls"), [
    { kind: "lines", text: "See:" },
    { kind: "code", text: "ls" },
  ]);
});

test("code and words of weight are pieces of a line, and signs without an end stay text", () => {
  assert.deepEqual(piecesOf("run `rm -rf /` **never** at 2 ** 3 or `"), [
    { kind: "plain", text: "run " },
    { kind: "code", text: "rm -rf /" },
    { kind: "plain", text: " " },
    { kind: "strong", text: "never" },
    { kind: "plain", text: " at 2 ** 3 or `" },
  ]);
});

test("no word of a text is lost, whatever is written", () => {
  const sign = fc.constantFrom(
    "word",
    " ",
    "\n",
    "- ",
    "# ",
    "\n```\n",
    "\n```sh\n",
    "``",
    "`",
    "**",
    "|",
    "1. ",
    "<b>",
    "\t",
  );
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 60 }), (signs) => {
      const text = signs.join("");
      // A word behind the sign of code is the name of its language.
      fc.pre(!text.includes("```word"));
      const shown = JSON.stringify(blocksOf(text));
      assert.equal(shown.split("word").length, text.split("word").length);
    }),
    { numRuns: 2000 },
  );
});
