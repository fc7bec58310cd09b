import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { executionOf, scratch } from "./files.fixture.ts";
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

void test("a page ends at its limit, and the next goes on behind it", async (t) => {
  const { use } = scratch(t, {
    a: "needle 1\nneedle 2\n",
    b: "needle 3\n",
    many: "other\n".repeat(HAND_LIMITS.entries + 1),
  });
  const page = (more: object) => use(searchTextTool, { pattern: "needle", limit: 2, ...more });
  const { text, data } = await page({});
  assert.equal(text, "a:1:needle 1\na:2:needle 2\n[there is more: go on with offset 2]");
  assert.partialDeepStrictEqual(data, { next: 2, truncated: true });
  assert.equal((await page({ offset: 2 })).text, "b:1:needle 3");
  assert.equal((await page({ offset: 9 })).text, "[nothing behind offset 9; there are 3]");
  const whole = await use(searchTextTool, { pattern: "other" });
  assert.match(whole.text, /\[there is more: go on with offset 1000\]$/);
});

void test("all matches together stay within what reading gives at once", async (t) => {
  const { use } = scratch(t, { many: `${"needle".padEnd(HAND_LIMITS.lineChars, ".")}\n`.repeat(900) });
  const { text } = await use(searchTextTool, { pattern: "needle" });
  assert.ok(Buffer.byteLength(text) < HAND_LIMITS.readBytes * 1.1);
  assert.match(text, /there is more: go on with offset \d+/);
});

void test("a regular expression matches within lines, and what it does not know is refused by name", async (t) => {
  const { use } = scratch(t, FILES);
  const lines = async (pattern: string, more: object = {}) =>
    (await use(searchTextTool, { pattern, regex: true, ...more })).text;
  assert.equal(await lines("^needle$"), "a.txt:3:needle");
  assert.equal(await lines("n(e{2})dle\\s*="), "src/b.ts:1:const needle = 1;");
  assert.equal(await lines("^CONST", { ignore_case: true }), "src/b.ts:1:const needle = 1;");
  assert.equal(await lines("x$"), '[no line matches "x$"]');
  await assert.rejects(lines("(?=a)"), { code: "BAD_ARGUMENTS", message: /a lookahead/ });
});

void test("lines around a match are shown once each, as grep shows them", async (t) => {
  const { use } = scratch(t, { a: "1\n2\n3 x\n4\n5 x\n6\n7\n8\n9\n10 x\n" });
  const { text, data } = await use(searchTextTool, { pattern: "x", context: 1 });
  assert.equal(text, "a-2-2\na:3:3 x\na-4-4\na:5:5 x\na-6-6\n--\na-9-9\na:10:10 x");
  assert.partialDeepStrictEqual(data, {
    matches: [
      { line: 3, before: ["2"], after: ["4"] },
      { before: [], after: ["6"] },
    ],
  });
});

void test("files and counts are shown instead of lines", async (t) => {
  const { use } = scratch(t, FILES);
  const show = async (how: "files" | "counts") =>
    (await use(searchTextTool, { pattern: "needle", ignore_case: true, show: how })).text;
  assert.equal(await show("files"), "a.txt\nsrc/b.ts");
  assert.equal(await show("counts"), "a.txt:2\nsrc/b.ts:1");
});

void test("the .gitignore of a folder, as caches have one, says nothing of the folders beside it", async (t) => {
  const { use } = scratch(t, { ".cache/.gitignore": "*\n", ".cache/a.txt": "needle", "src/a.txt": "needle" });
  assert.equal((await use(searchTextTool, { pattern: "needle" })).text, "src/a.txt:1:needle");
});

void test("what a .gitignore names is left out, unless it is asked for", async (t) => {
  const { use } = scratch(t, {
    ".gitignore": "# built\n*.log\n!keep.log\n/out\nsrc/gen/\n",
    "a.log": "needle",
    "keep.log": "needle",
    "out/a": "needle",
    "src/out/a": "needle",
    "src/gen/a": "needle",
    "src/.gitignore": "a.txt\n!b.log\n",
    "src/a.txt": "needle",
    "src/b.log": "needle",
    "src/deep/a.txt": "needle",
  });
  const files = async (more: object = {}) =>
    (await use(searchTextTool, { pattern: "needle", show: "files", ...more })).text.split("\n");
  assert.deepEqual(await files(), ["keep.log", "src/b.log", "src/out/a"]);
  assert.deepEqual(await files({ path: "src/deep" }), ['[no line holds "needle"]']);
  assert.deepEqual(await files({ path: "out" }), ["out/a"]);
  assert.deepEqual(await files({ exclude: "*.log" }), ["src/out/a"]);
  assert.equal((await files({ ignored: true })).length, 8);
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

void test("a file that becomes something else after it was listed is left out, and holds nothing up", async (t) => {
  const { context, at, outside } = scratch(t, { a: "needle", b: "needle", c: "needle", d: "needle" });
  writeFileSync(join(outside, "needles"), "needle");
  const swaps = new Map([
    [at("a"), () => symlinkSync(join(outside, "needles"), at("a"))],
    [at("b"), () => execFileSync("mkfifo", [at("b")])],
    [at("c"), () => mkdirSync(at("c"))],
  ]);
  const judge: typeof context.judge = (plan) => {
    const swap = plan.kind === "file" ? swaps.get(plan.path) : undefined;
    if (swap !== undefined && plan.kind === "file") rmSync(plan.path);
    swap?.();
    return context.judge(plan);
  };
  const input = { pattern: "needle", path: "." };
  const plan = await searchTextTool.plan(input, context);
  const outcome = await searchTextTool.run(input, executionOf(plan, { ...context, judge }));
  assert.ok(outcome.kind === "value");
  assert.match(outcome.text, /^d:1:needle\n\[not everything was seen: /);
  for (const said of [/a became a symlink/, /b is a device, a pipe/, /c is a folder/]) assert.match(outcome.text, said);
});
