import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TERMINAL_LIMITS } from "@vidro/core";
import { columnsOf, wrapLine } from "./columns.ts";
import { Markdown } from "./markdown.ts";

const plain = () => new Markdown((_, text) => text);

/** Rows of a Markdown text, with styles as tags. */
function rowsOf(text: string, columns = 80): readonly string[] {
  const markdown = new Markdown((style, painted) => `<${String(style)}>${painted}</${String(style)}>`);
  return text.split("\n").flatMap((line) => markdown.line(line, columns));
}

test("signs that close a heading are left out, those of its last word stay", () => {
  const headings: readonly (readonly [string, string])[] = [
    ["# Disks", "Disks"],
    ["## Disks ##", "Disks"],
    ["### Disks ###   ", "Disks"],
    ["# About C#", "About C#"],
    ["# C# and F# #", "C# and F#"],
    ["###### deep", "deep"],
  ];
  for (const [source, words] of headings) assert.deepEqual(rowsOf(source), [`<bold>${words}</bold>`]);
  assert.deepEqual(rowsOf("####### seven"), ["####### seven"]);
  assert.deepEqual(rowsOf("#hashtag"), ["#hashtag"]);
});

test("lines that a model could write to stop a terminal take no time", () => {
  const hostile: readonly string[] = [
    `# a${" ".repeat(20_000)}b`,
    `# ${"# ".repeat(10_000)}b`,
    "**a ".repeat(20_000),
    "[".repeat(50_000),
    "[a](".repeat(20_000),
    "`".repeat(50_000),
    `${"- ".repeat(5000)}x`,
    `|${" |".repeat(10_000)}x`,
  ];
  const begun = performance.now();
  for (const line of hostile) plain().line(line, 80);
  // Cubic time took minutes for the first of them alone.
  assert.ok(performance.now() - begun < 5000);
});

test("marks of a line over the bound are shown as they are, so no word is lost", () => {
  const long = `**bold** ${"x".repeat(TERMINAL_LIMITS.lineChars)}`;
  assert.equal(rowsOf(long, Infinity).join(""), long);
});

test("a block of code ends with a fence of its own sign that is at least as long", () => {
  assert.deepEqual(rowsOf("````\n```\n**a**\n````\n**b**"), [
    "  <cyan>```</cyan>",
    "  <cyan>**a**</cyan>",
    "<bold>b</bold>",
  ]);
  assert.deepEqual(rowsOf("~~~\n```\n~~~~\nend"), ["  <cyan>```</cyan>", "end"]);
});

test("signs between words and in names are no emphasis", () => {
  for (const text of [
    "2 * 3 * 4",
    "a*b*c",
    "** not bold **",
    "snake_case_name",
    "5 ** 2 ** 3",
    "[x] done",
    "f(x)[0](y z)",
  ])
    assert.deepEqual(rowsOf(text), [text]);
  assert.deepEqual(rowsOf("*now* and **then**"), ["<italic>now</italic> and <bold>then</bold>"]);
});

test("a link whose label is its address is shown once", () => {
  assert.deepEqual(rowsOf("[https://a.example](https://a.example)"), ["https://a.example"]);
});

test("any text on a terminal of any width becomes rows, and keeps its letters", () => {
  const letters = (text: string): string => text.replaceAll(/[^\p{L}]/gu, "");
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 80 }), fc.integer({ min: 1, max: 100 }), (text, columns) => {
      const line = text.replaceAll("\n", " ");
      const rows = plain().line(line, columns);
      // The first line of a block of code is a fence, and its letters name the language.
      if (!/^\s*(?:`{3}|~{3})/.test(line)) assert.equal(letters(rows.join("")), letters(line));
    }),
  );
});

test("wrapped rows are no wider than the terminal, but for a word that is", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "é", "日", "😀", "z"), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 60 }), (words, columns) => {
      const rows = wrapLine(words.join(" "), columns);
      for (const row of rows) assert.ok(columnsOf(row) <= columns || !row.trim().includes(" "), row);
      assert.deepEqual(
        rows.flatMap((row) => row.trim().split(" ")),
        words,
      );
    }),
  );
});

test("signs of code that close on their own line are no block, and no word of that line is lost", () => {
  assert.deepEqual(rowsOf("```df -h``` shows it\nnext **word**"), [
    "``<cyan>df</cyan> <cyan>-h</cyan>`` shows it",
    "next <bold>word</bold>",
  ]);
  assert.deepEqual(rowsOf("~~~ sh `x`\ncode\n~~~"), ["  <cyan>code</cyan>"]);
});

test("a line in a block of code ends it only when nothing else is on it", () => {
  assert.deepEqual(rowsOf("```\n```python\n``` and more\n```  \nend"), [
    "  <cyan>```python</cyan>",
    "  <cyan>``` and more</cyan>",
    "end",
  ]);
});

test("a block of code that never ends shows every line of it", () => {
  const lines = ["# no heading", "- no list", "> no quote", "| no | table |", "---", ""];
  assert.deepEqual(
    rowsOf(["```", ...lines].join("\n"), 10),
    lines.map((line) => `  <cyan>${line}</cyan>`),
  );
});

test("the letters of a whole answer are all shown, whatever its lines are", () => {
  const letters = (text: string): string => text.replaceAll(/[^\p{L}]/gu, "");
  const line = fc.constantFrom(
    "words",
    "```",
    "```code``` inline",
    "~~~",
    "``` x",
    "- item **bold**",
    "> quote",
    "# title #",
    "| a | b |",
    "---",
    "[label](http://x)",
    "",
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const markdown = plain();
      let isOpen = false;
      for (const source of lines) {
        const rows = markdown.line(source, 40);
        const opens = !isOpen && source === "``` x";
        // Only the name of the language behind an opening fence is left out.
        if (!opens) assert.equal(letters(rows.join("")), letters(source), lines.join("\n"));
        isOpen = rows.length === 0 ? !isOpen : isOpen;
      }
    }),
  );
});
