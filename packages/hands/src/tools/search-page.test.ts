import assert from "node:assert/strict";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import * as fc from "fast-check";
import { lineFinder } from "../files/line-search.ts";
import { SearchPage } from "./search-page.ts";

type Options = ConstructorParameters<typeof SearchPage>[1];

const LINES: Options = { show: "lines", limit: 1000, offset: 0, context: 0 };

/** A page over files in their order, as a search fills it. */
function pageOf(
  files: { readonly [path: string]: string | Buffer },
  more: Partial<Options> = {},
  pattern = "x",
): SearchPage {
  const page = new SearchPage(lineFinder({ pattern, isRegex: false, ignoreCase: false }), { ...LINES, ...more });
  for (const [path, content] of Object.entries(files)) {
    if (page.full !== undefined || page.next !== undefined) break;
    page.lookInto(Buffer.from(content), () => path);
  }
  return page;
}

test("lines come with their paths and numbers, files once, and counts with how many lines they have", () => {
  const files = { a: "x\n-\nx x\n", b: "-\n", c: "-\n-\nx" };
  assert.equal(pageOf(files).text("none"), "a:1:x\na:3:x x\nc:3:x");
  assert.equal(pageOf(files, { show: "files" }).text("none"), "a\nc");
  assert.equal(pageOf(files, { show: "counts" }).text("none"), "a:2\nc:1");
  assert.deepEqual(pageOf(files).data(), {
    matches: [
      { path: "a", line: 1, text: "x" },
      { path: "a", line: 3, text: "x x" },
      { path: "c", line: 3, text: "x" },
    ],
  });
});

test("pages joined by their offsets are the whole search, for any limit", () => {
  const files = { a: "x\nx\nx\n", b: "x\n", c: "-", d: "x\nx" };
  for (const show of ["lines", "files", "counts"] as const) {
    const whole = pageOf(files, { show }).text("none");
    for (const limit of [1, 2, 3, 4, 5, 6, 7]) {
      const parts: string[] = [];
      for (let offset: number | undefined = 0; offset !== undefined;) {
        const page: SearchPage = pageOf(files, { show, limit, offset });
        parts.push(page.text("none").replace(/\n\[there is more.*$/, ""));
        assert.ok(page.next === undefined || page.next > offset, "each page goes on");
        offset = page.next;
      }
      assert.equal(parts.join("\n"), whole, `${show} by ${limit}`);
    }
  }
});

test("an offset behind all matches says how many there are, and a search without matches says so", () => {
  assert.equal(pageOf({ a: "x\nx" }, { offset: 5 }).text("none"), "[nothing behind offset 5; there are 2]");
  assert.equal(pageOf({ a: "-" }, { offset: 5 }).text("none"), "none");
  assert.equal(pageOf({}).text("none"), "none");
});

test("context is shown as grep shows it, and no line twice", () => {
  const text = "1\n2\n3 x\n4\n5 x\n6\n7\n8\n9\n10 x\n";
  assert.equal(
    pageOf({ f: text }, { context: 1 }).text("none"),
    ["f-2-2", "f:3:3 x", "f-4-4", "f:5:5 x", "f-6-6", "--", "f-9-9", "f:10:10 x"].join("\n"),
  );
  assert.equal(pageOf({ a: "x\n", b: "x\n" }, { context: 3 }).text("none"), ["a:1:x", "--", "b:1:x"].join("\n"));
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("x", "-", ""), { maxLength: 25 }),
      fc.integer({ min: 1, max: 5 }),
      (lines, context) => {
        const shown = pageOf({ f: lines.join("\n") }, { context })
          .text("")
          .split("\n");
        const numbers = shown.flatMap((line) => /^f[:-](\d+)[:-]/.exec(line)?.[1] ?? []).map(Number);
        assert.deepEqual(
          numbers,
          [...new Set(numbers)].sort((one, other) => one - other),
        );
      },
    ),
  );
});

test("a page ends before it is larger than one reading, but has one match at least", () => {
  const long = `x${"é".repeat(300)}`;
  const page = pageOf({ a: `${long}\n`.repeat(1000) });
  assert.ok(Buffer.byteLength(page.text("none")) <= HAND_LIMITS.readBytes + 10_000);
  assert.ok((page.next ?? 0) > 100);
  const path = "p".repeat(HAND_LIMITS.readBytes + 1);
  const huge = new SearchPage(lineFinder({ pattern: "x", isRegex: false, ignoreCase: false }), LINES);
  huge.lookInto(Buffer.from("x\nx"), () => path);
  assert.equal(huge.next, 1);
  assert.ok(huge.text("none").startsWith(path));
});

test("binary files have no matches, and a file without the text is not asked for its path", () => {
  const page = new SearchPage(lineFinder({ pattern: "x", isRegex: false, ignoreCase: false }), LINES);
  page.lookInto(Buffer.from("\0x"), () => assert.fail("a binary file has no path to show"));
  page.lookInto(Buffer.from("y"), () => assert.fail("a file without the text has no path to show"));
  assert.equal(page.text("none"), "none");
});

test("a search ends when it has looked through too many bytes", () => {
  const page = new SearchPage(lineFinder({ pattern: "x", isRegex: false, ignoreCase: false }), LINES);
  const chunk = Buffer.alloc(HAND_LIMITS.searchBytes / 4, "y");
  for (let nth = 0; nth < 4; nth += 1) page.lookInto(chunk, () => "f");
  assert.equal(page.full, undefined);
  page.lookInto(Buffer.from("x"), () => "f");
  assert.match(page.full ?? "", /more than \d+ bytes/);
});
