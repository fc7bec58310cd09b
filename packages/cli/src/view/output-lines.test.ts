import assert from "node:assert/strict";
import { test } from "node:test";
import { TERMINAL_LIMITS } from "@vidro/core";
import fc from "fast-check";
import { OutputLines } from "./output-lines.ts";

test("lines come out whole however they are cut into pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", " ") })), (pieces) => {
      const fold = new OutputLines();
      const lines = pieces.flatMap((piece) => fold.push(piece));
      assert.deepEqual(lines, pieces.join("").split("\n").slice(0, -1));
    }),
  );
});

test("only the last lines are kept, with the one that is being written", () => {
  const fold = new OutputLines();
  fold.push(Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join(""));
  fold.push("half a li");
  assert.equal(fold.last().length, TERMINAL_LIMITS.outputLines);
  assert.deepEqual(fold.last().slice(-2), ["line 99", "half a li"]);
});

test("a line that is drawn over shows what was drawn last, without the means of drawing", () => {
  const fold = new OutputLines();
  assert.deepEqual(fold.push("10 %\r50 %\r100 %\r\n\u001b[32mdone\u001b[0m\r\n"), ["100 %", "done"]);
});

test("a control sequence that is cut in two is gone all the same", () => {
  const fold = new OutputLines();
  fold.push("a\u001b[3");
  assert.deepEqual(fold.push("1mb\n"), ["ab"]);
});

test("a line without an end takes no more room than its bound", () => {
  const fold = new OutputLines();
  for (let round = 0; round < 100; round += 1) fold.push("x".repeat(TERMINAL_LIMITS.lineChars));
  assert.deepEqual(fold.last(), ["x".repeat(TERMINAL_LIMITS.lineChars)]);
});
