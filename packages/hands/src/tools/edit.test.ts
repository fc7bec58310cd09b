import assert from "node:assert/strict";
import { readFileSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { editTool } from "./edit.ts";
import { scratch } from "./files.fixture.ts";

void test("the one place is replaced, and signs that mean something to a regular expression mean themselves", async (t) => {
  const { use, text } = scratch(t, { a: "let x = f(a); // $&\n" });
  const { data } = await use(editTool, { file_path: "a", old_string: "f(a)", new_string: "$& $1 $$" });
  assert.equal(text("a"), "let x = $& $1 $$; // $&\n");
  assert.partialDeepStrictEqual(data, { replacements: 1 });
});

void test("a text that occurs more than once is refused with its lines", async (t) => {
  const { use, text } = scratch(t, { a: "x\ny\nx\nx\n" });
  const input = { file_path: "a", old_string: "x", new_string: "z" };
  await assert.rejects(use(editTool, input), {
    code: "TOOL_FAILED",
    message: /occurs 3 times in .*, at lines 1, 3, 4; make/,
  });
  assert.equal(text("a"), "x\ny\nx\nx\n");
  await use(editTool, { ...input, replace_all: true });
  assert.equal(text("a"), "z\ny\nz\nz\n");
});

void test("of many places the first few are named", async (t) => {
  const { use } = scratch(t, { a: "x\n".repeat(9) });
  await assert.rejects(
    use(editTool, { file_path: "a", old_string: "x", new_string: "z" }),
    /9 times in .*, at lines 1, 2, 3, 4, 5, …;/,
  );
});

void test("a text that does not occur is answered with the nearest line", async (t) => {
  const { use } = scratch(t, { a: "alpha\n\tconst total = price * count;\nomega\n" });
  const near = { file_path: "a", old_string: "  const total = price * counts;\n", new_string: "" };
  await assert.rejects(
    use(editTool, near),
    /does not occur .* nearest is line 2: "\\tconst total = price \* count;"; copy it exactly/,
  );
  await assert.rejects(use(editTool, { file_path: "a", old_string: "QQQQ", new_string: "" }), /Read the file again/);
});

void test("in a file with CRLF line ends, LF in the input means CRLF", async (t) => {
  const { use, text } = scratch(t, { a: "one\r\ntwo\r\nthree\r\n" });
  await use(editTool, { file_path: "a", old_string: "one\ntwo", new_string: "1\n2\n2.5" });
  assert.equal(text("a"), "1\r\n2\r\n2.5\r\nthree\r\n");
});

void test("an edit that changes nothing is refused", async (t) => {
  const { use } = scratch(t, { a: "x" });
  await assert.rejects(use(editTool, { file_path: "a", old_string: "x", new_string: "x" }), { code: "BAD_ARGUMENTS" });
});

void test("a missing file and a binary one are refused", async (t) => {
  const { use } = scratch(t, { bin: "a\0b" });
  for (const file_path of ["none", "bin"]) {
    await assert.rejects(use(editTool, { file_path, old_string: "a", new_string: "b" }), { code: "TOOL_FAILED" });
  }
});

void test("a file that becomes a symlink between plan and run is left alone, and so is its target", async (t) => {
  const { run, at, context, outside } = scratch(t, { a: "secret" });
  const input = { file_path: "a", old_string: "secret", new_string: "evil" };
  const plan = await editTool.plan(input, context);
  unlinkSync(at("a"));
  symlinkSync(join(outside, "secret.txt"), at("a"));
  await assert.rejects(run(editTool, input, plan), { code: "PLAN_CHANGED" });
  assert.equal(readFileSync(join(outside, "secret.txt"), "utf8"), "secret");
});
