import assert from "node:assert/strict";
import { truncateSync } from "node:fs";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { scratch } from "./files.fixture.ts";
import { searchTextTool } from "./search-text.ts";

const FILES = {
  "a.txt": "first\r\na Needle here\r\nneedle\r\n",
  "src/b.ts": "const needle = 1;\n",
  bin: "needle\0",
  "node_modules/x.ts": "needle",
  ".git/y": "needle",
};

void test("each line that holds the text is given with its path and number", async (t) => {
  const { use } = scratch(t, FILES);
  const { text, data } = await use(searchTextTool, { pattern: "needle" });
  assert.equal(text, "a.txt:3:needle\nsrc/b.ts:1:const needle = 1;");
  assert.partialDeepStrictEqual(data, {
    matches: [
      { path: "a.txt", line: 3, text: "needle" },
      { path: "src/b.ts", line: 1, text: "const needle = 1;" },
    ],
    truncated: false,
  });
});

void test("capitals, a glob and a folder narrow or widen the search", async (t) => {
  const { use } = scratch(t, FILES);
  const lines = async (more: object) =>
    (await use(searchTextTool, { pattern: "NEEDLE", ignore_case: true, ...more })).text;
  assert.equal(await lines({ glob: "*.txt" }), "a.txt:2:a Needle here\na.txt:3:needle");
  assert.equal(await lines({ path: "src" }), "src/b.ts:1:const needle = 1;");
  assert.equal(await lines({ path: "src/b.ts" }), "src/b.ts:1:const needle = 1;");
  assert.equal(await lines({ path: "node_modules" }), "node_modules/x.ts:1:needle");
  assert.equal(await lines({ ignore_case: false }), '[no line holds "NEEDLE"]');
});

void test("the text is taken as it is, not as a regular expression", async (t) => {
  const { use } = scratch(t, { a: "x(a+)+$\nxaaa\n" });
  assert.equal((await use(searchTextTool, { pattern: "(a+)+$" })).text, "a:1:x(a+)+$");
});

void test("a pattern that spans lines is refused", async (t) => {
  await assert.rejects(scratch(t).use(searchTextTool, { pattern: "a\nb" }), { code: "BAD_ARGUMENTS" });
});

void test("of a long line the part around the match is shown", async (t) => {
  const { use } = scratch(t, { wide: `${"x".repeat(5000)}needle${"y".repeat(5000)}` });
  const { text } = await use(searchTextTool, { pattern: "needle" });
  assert.ok(text.length < HAND_LIMITS.lineChars + 20);
  assert.match(text, /^wide:1:…x+needley+…$/);
});

void test("more matches than the bound are cut and say so", async (t) => {
  const { use } = scratch(t, { many: "needle\n".repeat(HAND_LIMITS.entries + 1), wide: "" });
  const { text } = await use(searchTextTool, { pattern: "needle" });
  assert.match(text, /\[not everything was seen: there are more matches than fit here \(1000 are shown\)/);
  assert.equal(text.split("\n").length, HAND_LIMITS.entries + 1);
});

void test("all matches together stay within what reading gives at once", async (t) => {
  const { use } = scratch(t, { many: `${"needle".padEnd(HAND_LIMITS.lineChars, ".")}\n`.repeat(900) });
  const { text } = await use(searchTextTool, { pattern: "needle" });
  assert.ok(Buffer.byteLength(text) < HAND_LIMITS.readBytes * 1.1);
  assert.match(text, /more matches than fit here/);
});

void test("a file beyond the bound is left out by name, and the rest is still searched", async (t) => {
  const { use, at } = scratch(t, { big: "", small: "needle" });
  truncateSync(at("big"), HAND_LIMITS.fileBytes + 1);
  const { text } = await use(searchTextTool, { pattern: "needle" });
  assert.match(text, /^small:1:needle\n\[not everything was seen: .*big has 8388609 bytes/);
});

void test("the hand's own state is not searched", async (t) => {
  const { text } = await scratch(t).use(searchTextTool, { pattern: "needle in the state" });
  assert.match(text, /^\[no line holds/);
});
