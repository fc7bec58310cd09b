import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { HAND_LIMITS } from "@vidro/core";
import { findLines, lineFinder } from "./line-search.ts";
import type { LineMatch } from "./line-search.ts";

const search = (text: string, pattern: string, context = 0): LineMatch[] => [
  ...findLines(text, lineFinder({ pattern, isRegex: false, ignoreCase: false }), context),
];
const numbers = (matches: readonly LineMatch[]): number[] => matches.map(({ line }) => line);

/** Lines as a person counts them: what follows the last line end is no line. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

describe("a search of lines", () => {
  it("counts lines from one, and shows each matching line once", () => {
    const text = "one\ntwo one one\nthree\none";
    assert.deepEqual(search(text, "one"), [
      { line: 1, text: "one" },
      { line: 2, text: "two one one" },
      { line: 4, text: "one" },
    ]);
  });

  it("finds the lines that a plain loop finds, in any text", () => {
    const texts = fc
      .array(fc.constantFrom("a", "b", "\n", "ab", "\r\n"), { maxLength: 40 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, fc.constantFrom("a", "b", "ab", "ba"), (text, pattern) => {
        const expected = linesOf(text).flatMap((line, index) => (line.includes(pattern) ? [index + 1] : []));
        assert.deepEqual(numbers(search(text, pattern)), expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("shows every line at most once with context, in order, and none that is too far from a match", () => {
    const texts = fc.array(fc.constantFrom("hit", "x", "y", ""), { maxLength: 30 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 4 }), fc.boolean(), (lines, context, hasEnd) => {
        const text = lines.join("\n") + (hasEnd ? "\n" : "");
        const all = linesOf(text);
        const shown = search(text, "hit", context).flatMap(({ line, text: match, before = [], after = [] }) => [
          ...before.map((each, index) => [line - before.length + index, each] as const),
          [line, match] as const,
          ...after.map((each, index) => [line + 1 + index, each] as const),
        ]);
        const expected = all.flatMap((each, index) => {
          const isNear = all.slice(Math.max(0, index - context), index + context + 1).includes("hit");
          return isNear ? [[index + 1, each] as const] : [];
        });
        assert.deepEqual(shown, expected, JSON.stringify({ text, context }));
      }),
      { numRuns: 2000 },
    );
  });

  it("matches letters of a pattern as they are, also those that a regular expression knows", () => {
    for (const pattern of ["a.b", "(x", "[z]", "a+", "$", "^", "\\d", "a|b", "{2}", "*"]) {
      const text = `aXb\nx\nz\naaa\n\n5\na\nb\nzz\n${pattern} here`;
      assert.deepEqual(numbers(search(text, pattern)), [10], pattern);
      const ignoring = lineFinder({ pattern: pattern.toUpperCase(), isRegex: false, ignoreCase: true });
      const found = [...findLines(text, ignoring, 0)].map(({ line }) => line);
      assert.ok(found.includes(10), pattern);
    }
  });

  it("takes no notice of case where that is asked for, also beyond ASCII", () => {
    const finder = lineFinder({ pattern: "ÇÃO", isRegex: false, ignoreCase: true });
    assert.deepEqual(numbers([...findLines("ação\nacao\nNAÇÃO", finder, 0)]), [1, 3]);
  });

  it("shows lines without the carriage return of their end", () => {
    assert.deepEqual(search("a\r\nb\r\n", "b"), [{ line: 2, text: "b" }]);
  });

  it("shows the part of a long line around its match, with dots where it was cut", () => {
    const [{ text } = { text: "" }] = search(`${"x".repeat(5000)}needle${"y".repeat(5000)}`, "needle");
    assert.ok(text.includes("needle"));
    assert.ok(text.startsWith("…x") && text.endsWith("y…"));
    assert.equal(text.length, HAND_LIMITS.lineChars + 2);
    const [first] = search(`needle${"y".repeat(5000)}`, "needle");
    assert.ok(first?.text.startsWith("needle") && first.text.endsWith("…"));
    const [last] = search(`${"y".repeat(5000)}needle`, "needle");
    assert.ok(last?.text.startsWith("…") && last.text.endsWith("needle"));
  });

  it("bounds the lines of the context as well", () => {
    const [match] = search(`${"x".repeat(5000)}\nhit\n${"z".repeat(5000)}`, "hit", 1);
    for (const line of [...(match?.before ?? []), ...(match?.after ?? [])])
      assert.ok(line.length <= HAND_LIMITS.lineChars + 1);
  });

  it("refuses a regular expression that is not known here, by name", () => {
    for (const pattern of ["(", "(?<=x)y", "\\1", "[z-a]"])
      assert.throws(
        () => lineFinder({ pattern, isRegex: true, ignoreCase: false }),
        { code: "BAD_ARGUMENTS" },
        pattern,
      );
  });

  it("of an empty text finds nothing but what matches an empty line", () => {
    assert.deepEqual(search("", "a"), []);
    const empty = lineFinder({ pattern: "^$", isRegex: true, ignoreCase: false });
    assert.deepEqual(numbers([...findLines("", empty, 0)]), [1]);
    assert.deepEqual(numbers([...findLines("a\n\nb\n", empty, 0)]), [2]);
  });
});
