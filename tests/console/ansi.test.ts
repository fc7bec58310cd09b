import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { tonesOf } from "../../packages/console/src/run/ansi.ts";

const ESC = "\u001B[";

test("colours and weights of an output are tones, until they are set back", () => {
  assert.deepEqual(tonesOf(`a ${ESC}31mred ${ESC}1mbold${ESC}0m plain ${ESC}32;1mok${ESC}39;22m!`), [
    { tone: "", text: "a " },
    { tone: "bad", text: "red " },
    { tone: "bad bold", text: "bold" },
    { tone: "", text: " plain " },
    { tone: "ok bold", text: "ok" },
    { tone: "", text: "!" },
  ]);
});

test("a colour by its number changes nothing, and its numbers are no other colours", () => {
  assert.deepEqual(tonesOf(`${ESC}38;5;31mx${ESC}48;2;31;32;33my`), [
    { tone: "", text: "x" },
    { tone: "", text: "y" },
  ]);
});

test("what moves or erases stays in the text, where it is spelled out", () => {
  const text = `${ESC}2J${ESC}10;10Hhidden\u001B]8;;http://x\u0007`;
  assert.deepEqual(tonesOf(text), [{ tone: "", text }]);
});

test("nothing but styles is taken out of an output, whatever it is", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("x", ESC, "31", ";", "m", "0", "\n", "\u001B")), (signs) => {
      const output = signs.join("");
      // oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
      const plain = output.replaceAll(/\u001B\[[\d;]{0,32}m/g, "");
      const shown = tonesOf(output).map(({ text }) => text);
      assert.equal(shown.join(""), plain);
    }),
  );
});
