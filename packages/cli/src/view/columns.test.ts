import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { columnsOf, wrapLine, wrapText } from "./columns.ts";
import { markControl } from "./control-sequences.ts";

const WIDTHS = [20, 40, 80, 200] as const;

/** Words of several scripts: narrow, wide, with combining marks, and with invisible characters. */
const word = fc.constantFrom(
  "a",
  "disk",
  "cuánto",
  "e\u0301te\u0301",
  "日本語",
  "한국어",
  "😀",
  "🇧🇷",
  "नमस्ते",
  "a\u200db",
  "/var/lib/postgresql",
  "x".repeat(30),
);
const sentence = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(" "));

describe("columns of a text", () => {
  test("are those that a terminal gives each letter", () => {
    const rows: readonly (readonly [string, number])[] = [
      ["", 0],
      ["plain", 5],
      ["naïve", 5],
      ["nai\u0308ve", 5],
      ["日本", 4],
      ["ｶﾅ", 2],
      ["カナ", 4],
      ["한", 2],
      ["（）", 4],
      ["〈〉", 4],
      ["😀", 2],
      ["✓ ⊘ ⁇", 5],
      ["✅", 2],
      ["❤", 1],
      ["│─└", 3],
      ["█▀▄", 3],
      ["\u{1b000}", 2],
      ["\u{20000}", 2],
      ["zero\u200dwidth", 9],
      ["ب\u064e", 1],
    ];
    for (const [text, columns] of rows) assert.equal(columnsOf(text), columns, JSON.stringify(text));
  });

  test("of a flag are two, as those of any other picture", () => {
    for (const flag of ["🇧🇷", "🇵🇹", "🇪🇸", "🇺🇸"]) assert.equal(columnsOf(flag), 2, flag);
    assert.equal(columnsOf("🇧🇷🇪🇸"), 4);
  });

  test("of a sign that is drawn as text are one, also among the pictures", () => {
    for (const sign of ["🌡", "🖥", "🕹", "🛠", "🏳", "🖧"]) assert.equal(columnsOf(sign), 1, sign);
  });

  test("of two texts are those of the one and of the other, and none is below zero", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (one, other) => {
        assert.equal(columnsOf(one + other), columnsOf(one) + columnsOf(other));
        assert.ok(columnsOf(one) >= 0 && columnsOf(one) <= 2 * Array.from(one).length);
      }),
    );
  });

  test("are the same with and without our colours", () => {
    fc.assert(
      fc.property(sentence, (text) => {
        const painted = `${markControl("31m")}${text}${markControl("39m")}`;
        assert.equal(columnsOf(painted), columnsOf(text));
      }),
    );
  });
});

describe("a line that is too wide", () => {
  for (const columns of WIDTHS)
    test(`is broken between words at ${columns} columns, and no row but that of one long word is wider`, () => {
      fc.assert(
        fc.property(sentence, (line) => {
          const rows = wrapLine(line, columns);
          for (const row of rows)
            assert.ok(columnsOf(row) <= columns || !row.trim().includes(" "), `${columnsOf(row)}: ${row}`);
          assert.equal(rows.map((row) => row.trim()).join(" "), line.trim());
        }),
      );
    });

  test("has as few rows as its words allow", () => {
    fc.assert(
      fc.property(sentence, fc.constantFrom(...WIDTHS), (line, columns) => {
        const rows = wrapLine(line, columns);
        for (const [index, row] of rows.entries()) {
          const next = rows[index + 1]?.trim().split(" ")[0];
          if (next !== undefined) assert.ok(columnsOf(row) + 1 + columnsOf(next) > columns, `${row} | ${next}`);
        }
      }),
    );
  });

  test("keeps its indent and the mark of its list, and what follows stands below its first word", () => {
    const rows: readonly (readonly [string, readonly string[]])[] = [
      ["- aa bb cc dd", ["- aa bb", "  cc dd"]],
      ["* aa bb cc dd", ["* aa bb", "  cc dd"]],
      ["• aa bb cc dd", ["• aa bb", "  cc dd"]],
      ["12. aa bb cc dd", ["12. aa", "    bb", "    cc", "    dd"]],
      ["1) aa bb cc dd", ["1) aa bb", "   cc dd"]],
      ["  aa bb cc dd", ["  aa bb", "  cc dd"]],
      ["-aa bb cc dd", ["-aa bb", "cc dd"]],
      ["1234. aa bb cc", ["1234. aa", "bb cc"]],
    ];
    for (const [line, expected] of rows) assert.deepEqual(wrapLine(line, 8), expected, line);
  });

  test("whose indent is most of the window is not indented further than half of it", () => {
    const line = `${" ".repeat(18)}one two three four`;
    for (const row of wrapLine(line, 20).slice(1)) assert.match(row, /^ {10}\S/);
  });

  test("stays whole when it is a table, by two blanks or a tab between words", () => {
    for (const line of ["NAME  STATUS  SINCE  OWNER", "name\tstatus\tsince", "- a  b c d e f g h i j k"])
      assert.deepEqual(wrapLine(line, 8), [line]);
  });

  test("of any text on a window of no width, or of one without bounds, is still its words", () => {
    fc.assert(
      fc.property(sentence, fc.constantFrom(-3, 0, 1, 2, Infinity), (line, columns) => {
        const rows = wrapLine(line, columns);
        assert.equal(
          rows
            .map((row) => row.trim())
            .filter((row) => row !== "")
            .join(" "),
          line,
        );
        if (columns === Infinity) assert.deepEqual(rows, [line]);
      }),
    );
  });
});

test("the lines of a text are broken each by itself, and empty ones stay", () => {
  assert.deepEqual(wrapText("one two\n\nthree four five\n", 9), ["one two", "", "three", "four five", ""]);
  fc.assert(
    fc.property(fc.array(sentence, { maxLength: 5 }), fc.constantFrom(...WIDTHS), (lines, columns) => {
      assert.deepEqual(
        wrapText(lines.join("\n"), columns),
        lines.length === 0 ? [""] : lines.flatMap((line) => wrapLine(line, columns)),
      );
    }),
  );
});

test("a line of any length is broken in time that grows with its length alone", () => {
  const begun = performance.now();
  for (const piece of ["word ", "日本 ", "e\u0301 "]) assert.ok(wrapLine(piece.repeat(100_000), 80).length > 1000);
  // In time that grows with the width of the rows as well it took minutes.
  assert.ok(performance.now() - begun < 20_000);
});
