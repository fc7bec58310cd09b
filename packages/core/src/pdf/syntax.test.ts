import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PDF_LIMITS } from "../limits.ts";
import {
  asBytes,
  asDictionary,
  asList,
  asName,
  asNumber,
  asReference,
  asWord,
  bytesOfHex,
  PdfMisfit,
  PdfReader,
} from "./syntax.ts";
import type { PdfValue } from "./syntax.ts";

const readOne = (text: string): PdfValue | undefined => new PdfReader(text).read();

/** All values of a text, and how many steps that took. */
function readAll(text: string): PdfValue[] {
  const reader = new PdfReader(text);
  const values: PdfValue[] = [];
  for (let value = reader.read(); value !== undefined; value = reader.read()) values.push(value);
  return values;
}

const BLANKS = ["\0", "\t", "\n", "\f", "\r", " "];

test("numbers are read with signs and points, and what only looks like one is a word", () => {
  const numbers: readonly (readonly [string, number])[] = [
    ["0", 0],
    ["-0", -0],
    ["+17", 17],
    ["-98.25", -98.25],
    ["4.", 4],
    [".5", 0.5],
    ["-.002", -0.002],
    ["007", 7],
    ["99999999999999999999", 1e20],
  ];
  for (const [text, value] of numbers) assert.equal(readOne(text), value, text);
  for (const text of ["1e5", "--5", "1.2.3", "0x10", "5a", "+", "-", ".", "1-2", "123456789012345678901"])
    assert.deepEqual(readOne(text), { word: text }, text);
});

test("a number ends before each delimiter, and a reference needs its R alone", () => {
  for (const after of ["(", ")", "<", ">", "[", "]", "{", "}", "/", "%", ...BLANKS])
    assert.equal(readOne(`12${after}`), 12, JSON.stringify(after));
  assert.deepEqual(readAll("7 0 R"), [{ ref: 7 }]);
  assert.deepEqual(readAll("7 0 R]"), [{ ref: 7 }, { word: "]" }]);
  assert.deepEqual(readAll("7\r\n65535\0R/N"), [{ ref: 7 }, { name: "N" }]);
  assert.deepEqual(readAll("7 0 RG"), [7, 0, { word: "RG" }]);
  assert.deepEqual(readAll("7 0 r"), [7, 0, { word: "r" }]);
  assert.deepEqual(readAll("7 123456 R"), [7, 123_456, { word: "R" }]);
});

test("a literal text keeps balanced brackets and turns its escapes into bytes", () => {
  const literals: readonly (readonly [string, string])[] = [
    ["()", ""],
    ["(a(b)c)", "a(b)c"],
    ["(\\(\\)\\\\)", "()\\"],
    ["(\\n\\r\\t\\b\\f)", "\n\r\t\b\f"],
    ["(\\101\\60\\7)", "A0\x07"],
    ["(\\0053)", "\x053"],
    ["(\\777)", "\xff"],
    ["(\\8\\9\\x)", "89x"],
    ["(one\\\ntwo\\\r\nthree\\\rfour)", "onetwothreefour"],
    ["(not ended", "not ended"],
    ["(ended by a slash \\", "ended by a slash "],
    ["(half (open)", "half (open)"],
    ["(% no comment)", "% no comment"],
  ];
  for (const [text, bytes] of literals) assert.deepEqual(readOne(text), { bytes }, text);
});

test("texts in hexadecimal digits leave other characters out and end an odd digit with 0", () => {
  assert.deepEqual(readOne("<48 65\n6c6C6f>"), { bytes: "Hello" });
  assert.deepEqual(readOne("<>"), { bytes: "" });
  assert.deepEqual(readOne("<4>"), { bytes: "@" });
  assert.deepEqual(readOne("<48zz69"), { bytes: "Hi" });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = String.fromCharCode(...bytes);
      assert.equal(bytesOfHex(Buffer.from(bytes).toString("hex")), text);
      assert.equal(bytesOfHex(Buffer.from(bytes).toString("hex").toUpperCase().split("").join("\n")), text);
    }),
  );
});

test("names keep every regular character, decode two digits behind #, and may be empty or of a prototype", () => {
  assert.deepEqual(readOne("/A#20B#2fC"), { name: "A B/C" });
  assert.deepEqual(readOne("/#zz#4"), { name: "#zz#4" });
  assert.deepEqual(readAll("/ /x"), [{ name: "" }, { name: "x" }]);
  const entries = asDictionary(readOne("<< /__proto__ 1 /constructor 2 /toString /x >>"));
  assert.deepEqual(
    [...(entries ?? [])],
    [
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", { name: "x" }],
    ],
  );
});

test("words that JavaScript's objects know are words, and only three of a PDF's are values", () => {
  assert.deepEqual(readAll("true false null"), [true, false, null]);
  for (const word of ["__proto__", "constructor", "hasOwnProperty", "True", "nullx", "T*", "'", '"'])
    assert.deepEqual(readOne(word), { word }, word);
});

test("a dictionary takes pairs with a name, the last of one name counts, and a last name alone is left out", () => {
  const entries = asDictionary(readOne("<</A 1/A 2 3 4/B<</C[1(x)]>>/D>>"));
  assert.equal(entries?.get("A"), 2);
  assert.deepEqual(asDictionary(entries?.get("B"))?.get("C"), [1, { bytes: "x" }]);
  assert.equal(entries?.has("D"), false);
  assert.equal(entries?.size, 2);
});

test("a list or a dictionary that is not closed ends where its object does, and stray brackets are words", () => {
  assert.deepEqual(readOne("[1 2 endobj 3"), [1, 2]);
  assert.deepEqual(asDictionary(readOne("<< /A 1 stream"))?.get("A"), 1);
  assert.deepEqual(readOne("[1 2"), [1, 2]);
  assert.deepEqual(readAll("] >> > ) { }"), [
    { word: "]" },
    { word: ">>" },
    { word: ">" },
    { word: ")" },
    { word: "{" },
    { word: "}" },
  ]);
});

test("nesting is read up to its bound and refused beyond it", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  assert.doesNotThrow(() => readOne(nested(PDF_LIMITS.depth)));
  assert.throws(() => readOne(nested(PDF_LIMITS.depth + 1)), PdfMisfit);
  assert.throws(() => readOne("<</A".repeat(PDF_LIMITS.depth + 1)), PdfMisfit);
});

test("comments end with their line and count as blanks wherever these may stand", () => {
  assert.deepEqual(readAll("1%2 3\n4%5\r6%7\r\n8 % 9"), [1, 4, 6, 8]);
  assert.deepEqual(readAll("% a % b\n%\n%\r(x)"), [{ bytes: "x" }]);
  assert.deepEqual(readAll("%"), []);
  assert.deepEqual(readAll("[1 % ]\n2]"), [[1, 2]]);
});

test("millions of blanks and comments are passed over without running out of room", () => {
  for (const blank of ["\n", " ", "% \n", "%%%", "\0\r\n"])
    assert.deepEqual(readAll(`${blank.repeat(3_000_000)}\n/end`), [{ name: "end" }], JSON.stringify(blank));
});

test("every text is read to its end in as many steps as it has characters at most", () => {
  const signs = fc.constantFrom(
    ...Array.from("()<>[]{}/%#\\+-.0179aRnull\n\r \0"),
    "<<",
    ">>",
    "endobj",
    "stream",
    "true",
    "1 0 R",
  );
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 60 }), (parts) => {
      const text = parts.join("");
      const reader = new PdfReader(text);
      let last = -1;
      try {
        while (reader.read() !== undefined) {
          assert.ok(reader.at > last, "each value moves on");
          last = reader.at;
        }
        assert.ok(reader.at >= text.length);
      } catch (thrown) {
        assert.ok(thrown instanceof PdfMisfit);
      }
    }),
    { numRuns: 400 },
  );
});

test("what a value is not, it does not give", () => {
  const values: readonly (PdfValue | undefined)[] = [
    undefined,
    null,
    true,
    5,
    [1],
    new Map([["a", 1]]),
    { name: "n" },
    { word: "w" },
    { bytes: "b" },
    { ref: 3 },
  ];
  const given = values.map((value) => [
    asDictionary(value)?.size,
    asList(value)?.length,
    asName(value),
    asWord(value),
    asBytes(value),
    asReference(value),
    asNumber(value) || undefined,
  ]);
  const only = (at: number, one: unknown): unknown[] =>
    Array.from({ length: 7 }, (_, index) => (index === at ? one : undefined));
  assert.deepEqual(given, [
    only(-1, 0),
    only(-1, 0),
    only(-1, 0),
    only(6, 5),
    only(1, 1),
    only(0, 1),
    only(2, "n"),
    only(3, "w"),
    only(4, "b"),
    only(5, 3),
  ]);
});
