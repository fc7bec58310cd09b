import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LineRegex } from "./regex.ts";

/** The numbers of the lines that match. */
function matching(source: string, text: string, ignoreCase = false): number[] {
  const regex = new LineRegex(source, ignoreCase);
  return text.split("\n").flatMap((line, index) => (regex.find(line, 0) === -1 ? [] : [index]));
}

/** Pieces from which patterns are put together whose meaning JavaScript's own engine shares. */
const PIECES = [
  "a",
  "b",
  ".",
  "[ab]",
  "[^a]",
  "\\d",
  "\\w",
  "\\W",
  "\\s",
  "(?:ab|c)",
  "(a|)",
  "^",
  "$",
  "\\b",
  "\\B",
  "é",
  "😀",
  "[à-ÿ]",
];
const QUANTIFIERS = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}?"];
const LETTERS = ["a", "b", "c", "A", " ", "1", "_", "é", "É", "😀", "-"];

/** Numbers below 1, the same at each run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

describe("a regular expression over lines", () => {
  it("finds what JavaScript's own engine finds, for 1000 patterns put together at random", () => {
    const random = numbersFrom(7);
    const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)]!;
    for (let round = 0; round < 1000; round += 1) {
      const parts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
        const piece = pick(PIECES);
        return /^(?:\^|\$|\\b|\\B)$/i.test(piece) ? piece : piece + pick(QUANTIFIERS);
      });
      const source = parts.join(random() < 0.2 ? "|" : "");
      const ignoreCase = random() < 0.3;
      const theirs = new RegExp(source, ignoreCase ? "iu" : "u");
      const lines = Array.from({ length: 6 }, () =>
        Array.from({ length: Math.floor(random() * 6) }, () => pick(LETTERS)).join(""),
      );
      const expected = lines.flatMap((line, index) => (theirs.test(line) ? [index] : []));
      assert.deepEqual(
        matching(source, lines.join("\n"), ignoreCase),
        expected,
        `${source} on ${JSON.stringify(lines)}`,
      );
      const regex = new LineRegex(source, ignoreCase);
      const ends = lines.flatMap((line) => (line.includes(regex.required) ? [line] : []));
      assert.ok(
        lines.every((line) => !theirs.test(line) || ends.includes(line)),
        `${source} requires ${regex.required}`,
      );
    }
  });

  it("goes on behind each line, whatever ends it", () => {
    const regex = new LineRegex("^b$", false);
    assert.equal(regex.find("a\r\nb\r\nb", 0), 4);
    assert.equal(regex.find("a\nb", 0), 3);
    assert.equal(regex.find("ab\nba\n", 0), -1);
  });

  it("is linear for patterns that make a backtracking engine hang", { timeout: 20_000 }, () => {
    const evil = [
      "(a+)+$",
      "(a|a)*b",
      "(a|aa)+$",
      "([a-zA-Z]+)*1",
      "(.*a){12}$",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      "(a?){30}a{30}b",
    ];
    for (const source of evil)
      assert.equal(new LineRegex(source, false).find(`${"a".repeat(1_000_000)}!`, 0), -1, source);
  });

  it(
    "ends a search whose automaton would have too many states, instead of holding up the hand",
    { timeout: 20_000 },
    () => {
      const random = numbersFrom(3);
      const text = Array.from({ length: 200_000 }, () => (random() < 0.5 ? "a" : "b")).join("");
      assert.throws(() => new LineRegex("(a|b)*a(a|b){200}c", false).find(text, 0), { code: "TOOL_FAILED" });
    },
  );

  const REFUSED: readonly (readonly [source: string, says: RegExp])[] = [
    ["(a)\\1", /backreference \\1/],
    ["\\k<a>", /backreference/],
    ["a(?=b)", /lookahead/],
    ["(?<!a)b", /negative lookbehind/],
    ["(?i)a", /inline flags/],
    ["a++", /possessive/],
    ["\\p{L}", /Unicode class/],
    ["a\\nb", /one line/],
    ["[a", /not closed/],
    ["(a", /not closed/],
    ["a)", /without/],
    ["*a", /nothing before it/],
    ["a{3,1}", /ends before/],
    ["a{9999}", /too large/],
    ["((((a{99}){99}){99}){99})", /too large/],
    ["(){999999}(){999999}".repeat(20) + "\\", /single \\/],
    ["(".repeat(60), /deep/],
    ["[[:alpha:]]", /by name/],
    ["\\q", /not known/],
    ["[z-a]", /range/],
  ];
  for (const [source, says] of REFUSED) {
    it(`refuses ${source.slice(0, 20)} by name`, () => {
      assert.throws(
        () => new LineRegex(source, false),
        (fault: { code?: string; message: string }) => {
          return fault.code === "BAD_ARGUMENTS" && says.test(fault.message);
        },
      );
    });
  }
});
