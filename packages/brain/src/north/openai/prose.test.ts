import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Prose } from "./prose.ts";

const shown = (pieces: readonly string[], whole: string): string => {
  const prose = new Prose();
  return pieces.map((piece) => prose.push(piece)).join("") + prose.end(whole);
};

test("words are shown as they come, and white space when words follow it", () => {
  const prose = new Prose();
  assert.equal(prose.push("  Let me"), "Let me");
  assert.equal(prose.push(" "), "");
  assert.equal(prose.push("look.\n\n"), " look.");
  assert.equal(prose.end("Let me look."), "");
});

test("a line that may be for the brain is held back with all that follows it", () => {
  const prose = new Prose();
  assert.equal(prose.push('I look.\n{"type":"shell"'), "I look.");
  assert.equal(prose.push(',"command":"ls"}\nmore'), "");
  assert.equal(prose.end("I look.\nmore"), "\nmore");
});

test("a brace in the middle of a line holds nothing back", () => {
  assert.equal(new Prose().push("use {name} here"), "use {name} here");
});

test("where pieces were lost, the whole is told again", () => {
  const prose = new Prose();
  prose.push("one three");
  assert.equal(prose.end("one two three"), "\n\none two three");
  assert.equal(prose.push("next"), "next");
});

test("however a text is cut into pieces, what is shown is the text as the brain reads it", () => {
  const line = fc.constantFrom("So it is.", "  indented", "", "a { b", '{"a":1}', "```", "ção ✓");
  const text = fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, fc.array(fc.nat(60), { maxLength: 8 }), (whole, places) => {
      const cuts = [0, ...places.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length];
      const pieces = cuts.slice(1).map((cut, index) => whole.slice(cuts[index], cut));
      assert.equal(shown(pieces, whole.trim()), whole.trim());
    }),
  );
});
