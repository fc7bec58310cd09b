import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { TERMINAL_LIMITS } from "@vidro/core";
import { KeyReader } from "./keys.ts";
import type { Key } from "./keys.ts";

const ESC = "\u001b";

/** The keys of pieces that came one after the other, and of what was kept in the end. */
function keysOf(...pieces: readonly string[]): readonly Key[] {
  const reader = new KeyReader();
  const keys = pieces.flatMap((piece) => reader.read(piece));
  return [...keys, ...reader.flush()];
}

/** Names of keys, and texts in quotes. */
const shown = (...pieces: readonly string[]): string =>
  keysOf(...pieces)
    .map(({ name, text }) => (text === undefined ? name : JSON.stringify(text)))
    .join(" ");

describe("keys of a terminal", () => {
  it("are letters, control characters and sequences behind an escape character", () => {
    const rows: readonly (readonly [string, string])[] = [
      ["a", '"a"'],
      ["é😀", '"é😀"'],
      ["\r", "enter"],
      ["\n", "newline"],
      ["\u0003", "interrupt"],
      ["\u0004", "leave"],
      ["\u007f", "backspace"],
      ["\t", "tab"],
      [`${ESC}[A`, "up"],
      [`${ESC}OB`, "down"],
      [`${ESC}[1;5C`, "word-right"],
      [`${ESC}[3~`, "delete"],
      [`${ESC}\r`, "newline"],
      [`${ESC}[13;2u`, "newline"],
      [`${ESC}b`, "word-left"],
      [`${ESC}x`, "other"],
      [`${ESC}[15~`, "other"],
      ["\u0000", "other"],
      [ESC, "escape"],
      [`ab${ESC}[Dc`, '"ab" left "c"'],
      [`${ESC}${ESC}[A`, "escape up"],
      [`${ESC}${ESC}`, "escape escape"],
      [`${ESC}[[A`, "other"],
      [`${ESC}[[Ex`, 'other "x"'],
      [`${ESC}[<0;10;20M`, "other"],
      [`${ESC}[?1;2c`, "other"],
      [`${ESC}[>0;276;0c`, "other"],
      [`${ESC}[2 q`, "other"],
      [`${ESC}[1;5Cx`, 'word-right "x"'],
      [`${ESC}OP`, "other"],
      [`${ESC}[I${ESC}[O`, "other other"],
    ];
    for (const [piece, expected] of rows) assert.equal(shown(piece), expected, JSON.stringify(piece));
  });

  it("are the same wherever a slow line cuts what the terminal sends", () => {
    const parts = fc.array(
      fc.constantFrom(
        "a",
        "é",
        `${ESC}[A`,
        `${ESC}[1;5D`,
        `${ESC}OH`,
        `${ESC}[200~x\r\ny${ESC}[201~`,
        "\u0003",
        `${ESC}b`,
        `${ESC}[[A`,
        `${ESC}[<0;1;2M`,
        `${ESC}[2 q`,
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(parts, fc.array(fc.nat(60), { maxLength: 6 }), (sent, cuts) => {
        const all = sent.join("");
        const places = [...new Set([0, ...cuts.filter((at) => at < all.length), all.length])].sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, index) => all.slice(places[index], to));
        // Texts are joined: where a piece of text ends means nothing.
        const joined = (text: string): string => text.replaceAll('" "', "");
        assert.equal(joined(shown(...pieces)), joined(shown(all)), JSON.stringify(pieces));
      }),
      { numRuns: 3000 },
    );
  });

  it("that only begin with an escape character are kept until their rest comes, or time has passed", () => {
    const reader = new KeyReader();
    assert.deepEqual(reader.read(ESC), []);
    assert.equal(reader.holdsKey, true);
    assert.deepEqual(reader.read("[1;"), []);
    assert.deepEqual(reader.read("5C"), [{ name: "word-right" }]);
    assert.equal(reader.holdsKey, false);
    assert.deepEqual(reader.flush(), []);
    reader.read(ESC);
    assert.deepEqual(reader.flush(), [{ name: "escape" }]);
    reader.read(`${ESC}[`);
    assert.deepEqual(reader.flush(), [{ name: "escape" }, { name: "text", text: "[" }]);
  });

  it("of lines that came at once are one text, and the last break ends it", () => {
    assert.equal(shown("one\ntwo\r\n"), '"one\\ntwo" enter');
    assert.equal(shown("one\rtwo"), '"one\\ntwo"');
    assert.equal(shown("one\u0003\n"), '"one" interrupt newline');
  });
});

describe("a paste", () => {
  const paste = (text: string): string => `${ESC}[200~${text}${ESC}[201~`;

  it("is one text, with plain line breaks, whatever is in it", () => {
    assert.equal(shown(paste("a\r\nb\rc")), '"a\\nb\\nc"');
    assert.deepEqual(keysOf(paste(`x${ESC}[Ay\u0003`)), [{ name: "paste", text: `x${ESC}[Ay\u0003` }]);
    assert.equal(shown(paste("")), '""');
    assert.equal(shown(`a${paste("b")}c${paste("d")}`), '"a" "b" "c" "d"');
  });

  it("ends where its end is, also when a piece ends in the middle of that", () => {
    const all = `${paste("text")}\r`;
    for (let at = 1; at < all.length; at += 1)
      assert.equal(shown(all.slice(0, at), all.slice(at)), '"text" enter', String(at));
    assert.equal(shown(...all.split("")), '"text" enter');
  });

  it("that has not ended is no key yet, and is not taken for Escape", () => {
    const reader = new KeyReader();
    assert.deepEqual(reader.read(`${ESC}[200~abc${ESC}`), []);
    assert.equal(reader.holdsKey, false);
    assert.deepEqual(reader.flush(), []);
    assert.deepEqual(reader.read("[201~"), [{ name: "paste", text: "abc" }]);
  });

  it("over the bound is cut, and what is typed after it is read", () => {
    const large = "x".repeat(TERMINAL_LIMITS.pastedChars * 2);
    const keys = keysOf(`${ESC}[200~`, large, large, `${ESC}[201~`, "\r");
    assert.deepEqual(
      keys.map(({ name }) => name),
      ["paste", "enter"],
    );
    assert.equal(keys[0]?.text?.length, TERMINAL_LIMITS.pastedChars);
  });
});
