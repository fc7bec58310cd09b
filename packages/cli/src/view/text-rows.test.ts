import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TERMINAL_LIMITS } from "@vidro/core";
import type { Outcome } from "@vidro/core";
import { columnsOf, wrapText } from "./columns.ts";
import { markControl } from "./control-sequences.ts";
import { Markdown } from "./markdown.ts";
import { foldedOutput } from "./output-fold.ts";

const SPANISH =
  "¿Cuánto espacio queda? 71,6 GiB de 252 GiB están libres en / (28 %); 29,9 GiB están en uso y el resto no está disponible aquí.";

/** Rows of a Markdown text, with styles as tags. */
function rowsOf(text: string, columns: number): readonly string[] {
  const markdown = new Markdown((style, painted) => `<${String(style)}>${painted}</${String(style)}>`);
  return text.split("\n").flatMap((line) => markdown.line(line, columns));
}

function wrote(text: string, truncated = false): Outcome {
  const stream = (written: string) => ({ text: written, bytes: written.length, truncated, sha256: "" });
  const ended = { exitCode: 0, signal: null, timedOut: false, durationMs: 1 };
  return { kind: "process", ...ended, stdout: stream(text), stderr: stream("") };
}

describe("rows of a terminal", () => {
  for (const columns of [40, 80, 120])
    test(`Spanish is broken between words at ${columns} columns, and no word is lost`, () => {
      const rows = wrapText(SPANISH, columns);
      assert.ok(rows.every((row) => columnsOf(row) <= columns));
      assert.equal(rows.length, Math.ceil(columnsOf(SPANISH) / columns));
      assert.equal(rows.map((row) => row.trim()).join(" "), SPANISH);
    });

  test("accents that stand alone take no column, wide letters take two, colours none", () => {
    assert.equal(columnsOf("ma\u0301s"), 3);
    assert.equal(columnsOf("日本"), 4);
    assert.equal(columnsOf(`${markControl("31m")}red${markControl("0m")}`), 3);
  });

  test("further rows of a list stand below its text; a table and a long word stay whole", () => {
    assert.deepEqual(wrapText("- one two three", 9), ["- one two", "  three"]);
    assert.deepEqual(wrapText("NAME    STATUS    SINCE", 10), ["NAME    STATUS    SINCE"]);
    assert.deepEqual(wrapText("a /very/long/path/of/a/file b", 10), ["a", "/very/long/path/of/a/file", "b"]);
  });

  test("Markdown: headings, lists, quotes, spans and code are styled; names with underscores are left alone", () => {
    assert.deepEqual(rowsOf("# Disk\n- `df -h` of **all**\n> as said\nsee user_id and my_name\n[a](http://b)", 80), [
      "<bold>Disk</bold>",
      "• <cyan>df</cyan> <cyan>-h</cyan> of <bold>all</bold>",
      "<dim>│</dim> as said",
      "see user_id and my_name",
      "a (<underline>http://b</underline>)",
    ]);
    assert.deepEqual(rowsOf("```sh\n# no heading\n```\nend", 80), ["  <cyan># no heading</cyan>", "end"]);
  });

  test("long output shows its head, its tail and a count; what fits is shown whole", () => {
    const { headLines, outputLines } = TERMINAL_LIMITS;
    const all = Array.from({ length: headLines + outputLines + 5 }, (_, at) => `line ${at}`);
    const folded = foldedOutput(wrote(`${all.join("\n")}\n`));
    assert.deepEqual(folded.slice(0, headLines), all.slice(0, headLines));
    assert.deepEqual(folded.slice(headLines + 1), all.slice(-outputLines));
    assert.equal(folded[headLines], "… 5 lines not shown; --verbose shows them …");
    assert.match(foldedOutput(wrote(all.join("\n"), true))[headLines] ?? "", /and more that the journal leaves out/);
    const short = all.slice(0, headLines + outputLines + 1);
    assert.deepEqual(foldedOutput(wrote(short.join("\n"))), short);
  });
});
