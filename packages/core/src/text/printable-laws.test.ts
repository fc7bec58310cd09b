import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { commandLine, escapeInvisible, isPlainJson, jsonLine, oneLine, printable, quoteWord } from "./printable.ts";

/** Pieces of which hostile text is made: controls, halves of characters, marks of direction, tags, and ordinary words. */
const piece = fc.constantFrom(
  "\u001b",
  "[",
  "]0;",
  "m",
  "\u0007",
  "\u009d",
  "\u009c",
  "\r",
  "\n",
  "\t",
  " ",
  "\ud83d",
  "\udc30",
  "\udb40",
  "\udc41",
  "\u200b",
  "\u202e",
  "\u2066",
  "\ufeff",
  "\u{e0041}",
  "\u0000",
  "a",
  "é",
  "日",
  "🐰",
  "'",
  "\\",
  '"',
);
const hostile = fc.oneof(
  fc.array(piece, { maxLength: 24 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary" }),
);
const HIDDEN = /[\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

describe("printable text", () => {
  it("holds no half of a character and no invisible one, also none that removing another puts together", () => {
    // The halves of U+E0041, a tag that spells an invisible "A", with a blank without width between them.
    assert.equal(printable("\udb40\u200b\udc41"), "\ufffd\ufffd");
    assert.equal(printable("\ud83d\u001b[0m\udc30"), "\ufffd\ufffd");
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = printable(text);
        assert.equal(shown.isWellFormed(), true);
        assert.doesNotMatch(shown, HIDDEN);
      }),
      { numRuns: 500 },
    );
  });

  it("stays the same when it is made printable again", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        assert.equal(printable(printable(text)), printable(text));
      }),
      { numRuns: 500 },
    );
  });

  it("is never longer than the text, and a text without anything to remove is the same", () => {
    const plain = fc.string({ unit: fc.constantFrom("a", "Z", "0", " ", "\n", "\t", "ç", "日", "🐰", "~", "[") });
    fc.assert(
      fc.property(hostile, plain, (text, words) => {
        assert.ok(printable(text).length <= text.length);
        assert.equal(printable(words), words);
      }),
    );
  });

  it("loses a sequence that is never closed only as far as its introduction", () => {
    assert.equal(printable("\u001b]0;title without an end"), "0;title without an end");
    assert.equal(printable("\u001b[12;34"), "");
    assert.equal(printable("a\u001b]8;;x\u001b[31mb"), "a8;;xb");
  });
});

describe("one line", () => {
  it("has no more characters than asked for and no line break, whatever the text is", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 12 }), (text, chars) => {
        const line = oneLine(text, chars);
        assert.ok(Array.from(line).length <= chars, line);
        assert.doesNotMatch(line, /[\n\t\r]/);
        assert.equal(line.isWellFormed(), true);
      }),
      { numRuns: 500 },
    );
  });

  it("says by its last character that a text went on, even when what was cut is blank", () => {
    assert.equal(oneLine("ab", 2), "ab");
    assert.equal(oneLine(`ab${" ".repeat(50)}`, 4), "ab…");
    assert.equal(oneLine("x", 0), "…");
  });

  it("takes the beginning of a text of any length alone", () => {
    const long = `${"word ".repeat(400_000)}end`;
    assert.equal(oneLine(long, 10), "word word…");
  });
});

describe("quoting", () => {
  it("shows every argument as one word without an invisible character", () => {
    fc.assert(
      fc.property(hostile, (word) => {
        const quoted = quoteWord(word);
        assert.equal(escapeInvisible(quoted), quoted);
        // Outside of its quotes there is nothing that separates words.
        if (/\s/.test(quoted)) assert.match(quoted, /^\$?'[^]*'$/);
      }),
      { numRuns: 500 },
    );
  });

  it("gives different words different spellings", () => {
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        fc.pre(one !== other);
        assert.notEqual(quoteWord(one), quoteWord(other));
      }),
      { numRuns: 500 },
    );
  });

  it("keeps the number of words: what is in one cannot begin the next", () => {
    assert.equal(commandLine(["a", "", "b c", "'"]), String.raw`a '' 'b c' ''\'''`);
    assert.equal(commandLine([]), "");
  });

  it("spells each invisible character the shortest way that a shell reads", () => {
    const rows: readonly (readonly [string, string])[] = [
      ["\u0001", String.raw`\x01`],
      ["\u007f", String.raw`\x7f`],
      ["\u0085", String.raw`\u0085`],
      ["\u001b", String.raw`\e`],
      ["\ud800", String.raw`\ud800`],
      ["\u{1d173}", String.raw`\U0001d173`],
      ["\u3000", String.raw`\u3000`],
      ["\u2800", String.raw`\u2800`],
      ["\u00ad", String.raw`\u00ad`],
    ];
    for (const [point, spelled] of rows) assert.equal(escapeInvisible(`a${point}b`), `a${spelled}b`);
    assert.equal(escapeInvisible("blank é 日 🐰 \\"), "blank é 日 🐰 \\");
  });
});

describe("a line of JSON", () => {
  it("reads back as the same value, is one line, and holds no control or invisible character", () => {
    fc.assert(
      fc.property(
        fc.record({ text: hostile, more: fc.array(hostile, { maxLength: 3 }) }, { noNullPrototype: true }),
        (value) => {
          const line = jsonLine(value);
          assert.deepEqual(JSON.parse(line), value);
          assert.equal(line.indexOf("\n"), line.length - 1);
          assert.equal(printable(line), line);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("is plain only when nothing in it is invisible, neither as it is nor escaped", () => {
    for (const value of ["words", "a\\u0041", "back\\slash", "日 🐰", "line\nbreak and\ttab", '"quoted"'])
      assert.equal(isPlainJson(JSON.stringify(value)), true, value);
    for (const value of ["\u0000", "a\u202eb", "\u{e0041}", "\ud800", "bell\u0007", "feed\f", "back\b", "return\r"])
      assert.equal(isPlainJson(JSON.stringify(value)), false, JSON.stringify(value));
    assert.equal(isPlainJson(String.raw`"\u0041"`), false);
    assert.equal(isPlainJson(String.raw`"\\u0041"`), true);
  });
});
