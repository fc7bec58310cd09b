import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fault, HAND_LIMITS, isObject } from "@vidro/core";
import type { Json } from "@vidro/core";
import * as fc from "fast-check";
import { fileApplyTool } from "./file-apply.ts";
import { fileDiffTool } from "./file-diff.ts";
import { scratch } from "./files.fixture.ts";
import type { Scratch } from "./files.fixture.ts";

const TEN = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

/** The patch and base that file_diff gives. */
async function diffed({ use }: Scratch, path: string, want: string): Promise<{ patch: string; base_sha256: string }> {
  return patchIn((await use(fileDiffTool, { path, want })).data);
}

function patchIn(data: Json | undefined): { patch: string; base_sha256: string } {
  assert.ok(isObject(data) && typeof data.patch === "string" && typeof data.base_sha256 === "string");
  return { patch: data.patch, base_sha256: data.base_sha256 };
}

void test("000-48 000-49: the diff of a file to what it is to be, applied, makes it so", async (t) => {
  const place = scratch(t, { "sub/a": TEN });
  const want = TEN.replace("5\n", "five\n");
  const made = await diffed(place, "sub/a", want);
  assert.match(made.patch, /^--- a\/sub\/a\n\+\+\+ b\/sub\/a\n@@ -2,7 \+2,7 @@\n/);
  const { data } = await place.use(fileApplyTool, { path: "sub/a", ...made });
  assert.equal(place.text("sub/a"), want);
  assert.partialDeepStrictEqual(data, { applied: true });
  assert.ok(isObject(data) && data.already === undefined);
});

void test("a patch that is in the file already says so and changes nothing, with a base and without", async (t) => {
  const place = scratch(t, { a: TEN });
  const made = await diffed(place, "a", TEN.replace("5\n", "five\n"));
  await place.use(fileApplyTool, { path: "a", ...made });
  const after = place.text("a");
  for (const input of [
    { path: "a", ...made },
    { path: "a", patch: made.patch },
  ]) {
    const { data } = await place.use(fileApplyTool, input);
    assert.partialDeepStrictEqual(data, { applied: true, already: true });
  }
  assert.equal(place.text("a"), after);
});

void test("a patch whose base is gone is a conflict that carries the same change for the file as it is", async (t) => {
  const place = scratch(t, { a: TEN });
  const made = await diffed(place, "a", TEN.replace("5\n", "five\n"));
  writeFileSync(place.at("a"), `0\n${TEN}`);
  const fault = await place.use(fileApplyTool, { path: "a", ...made }).catch((thrown: unknown) => thrown);
  assert.ok(fault instanceof Fault && fault.code === "CONFLICT");
  assert.equal(place.text("a"), `0\n${TEN}`);
  const { patch, base_sha256 } = patchIn(fault.detail);
  assert.ok(fault.message.includes(patch) && fault.message.includes(base_sha256));
  await place.use(fileApplyTool, { path: "a", patch, base_sha256 });
  assert.equal(place.text("a"), `0\n${TEN.replace("5\n", "five\n")}`);
});

void test("a file that holds the change among unrequested ones is a conflict when a base is given", async (t) => {
  const place = scratch(t, { a: TEN });
  const made = await diffed(place, "a", TEN.replace("5\n", "five\n"));
  writeFileSync(place.at("a"), TEN.replace("5\n", "five\n").replace("10\n", "ten\n"));
  await assert.rejects(place.use(fileApplyTool, { path: "a", ...made }), { code: "CONFLICT" });
});

void test("a patch that fits nowhere is a conflict that says what the file is now", async (t) => {
  const place = scratch(t, { a: TEN });
  const made = await diffed(place, "a", TEN.replace("5\n", "five\n"));
  writeFileSync(place.at("a"), "something else\n");
  await assert.rejects(place.use(fileApplyTool, { path: "a", ...made }), {
    code: "CONFLICT",
    message: /make a new patch/,
  });
});

void test("without a base, a patch that can be read both ways is a conflict and not a second helping", async (t) => {
  const place = scratch(t, { a: "x\nx\nx\n" });
  const patch = "@@ -1,2 +1,3 @@\n x\n+x\n x\n";
  await assert.rejects(place.use(fileApplyTool, { path: "a", patch }), { code: "CONFLICT" });
  assert.equal(place.text("a"), "x\nx\nx\n");
});

void test("a hunk is placed exactly where it says, with no fuzz", async (t) => {
  const place = scratch(t, { a: TEN });
  const shifted = "@@ -4,2 +4,3 @@\n 5\n+x\n 6\n";
  const fuzzy = "@@ -5,2 +5,3 @@\n 5 \n+x\n 6\n";
  const beyond = "@@ -999999999,0 +999999999,1 @@\n+x\n";
  const endless = "@@ -1 +1 @@\n-1\n+x\n\\ No newline at end of file\n";
  for (const patch of [shifted, fuzzy, beyond, endless]) {
    await assert.rejects(place.use(fileApplyTool, { path: "a", patch }), { code: "CONFLICT" });
  }
  assert.equal(place.text("a"), TEN);
});

void test("a missing file counts as empty and is made", async (t) => {
  const place = scratch(t);
  const made = await diffed(place, "new/a", "hello");
  await place.use(fileApplyTool, { path: "new/a", ...made });
  assert.equal(place.text("new/a"), "hello");
  await place.use(fileApplyTool, { path: "b", patch: "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+hi\n" });
  assert.equal(place.text("b"), "hi\n");
});

const ESCAPES = {
  "another file": "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-1\n+x\n",
  "another file on one side": "--- a/a\n+++ b/other\n@@ -1 +1 @@\n-1\n+x\n",
  "an absolute path": "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-1\n+x\n",
  "a parent folder": "--- a/../a\n+++ b/../a\n@@ -1 +1 @@\n-1\n+x\n",
  "an index line": "Index: other\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n",
  "a second file": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n--- a/other\n+++ b/other\n@@ -1 +1 @@\n-1\n+x\n",
  "a deletion": "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
  "a rename": "diff --git a/a b/a\nrename from a\nrename to a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n",
  "a mode": "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n",
  "no hunk": "--- a/a\n+++ b/a\n",
  "a hunk of no place": "--- a/a\n+++ b/a\n@@ foo @@\n-1\n+x\n",
  "a hunk that counts wrong": "--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n-1\n+x\n",
  words: "please change it",
};
for (const [what, patch] of Object.entries(ESCAPES)) {
  void test(`a patch with ${what} is refused before anything is planned`, async (t) => {
    const place = scratch(t, { a: TEN, other: TEN });
    await assert.rejects(async () => await fileApplyTool.plan({ path: "a", patch }, place.context), {
      code: "BAD_ARGUMENTS",
    });
    assert.deepEqual([place.text("a"), place.text("other")], [TEN, TEN]);
  });
}

void test("a patch may name its file as asked for, in full or not at all", async (t) => {
  const place = scratch(t);
  for (const header of ["", "--- a\n+++ a\n", "--- a/a\n+++ b/a\n", `--- ${place.at("a")}\n+++ ${place.at("a")}\n`]) {
    writeFileSync(place.at("a"), TEN);
    await place.use(fileApplyTool, { path: "a", patch: `${header}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n` });
    assert.equal(place.text("a"), TEN.replace("1\n", "one\n"));
  }
});

void test("outside of the workspace the diff names the file so that it can be applied", async (t) => {
  const place = scratch(t);
  const path = join(place.outside, "secret.txt");
  await place.use(fileApplyTool, { path, ...(await diffed(place, path, "open\n")) });
  assert.equal(readFileSync(path, "utf8"), "open\n");
});

void test("a patch with LF keeps the CRLF of the file", async (t) => {
  const place = scratch(t, { a: "1\r\n2\r\n3" });
  await place.use(fileApplyTool, {
    path: "a",
    patch: "@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+2.5\n 3\n\\ No newline at end of file\n",
  });
  assert.equal(place.text("a"), "1\r\ntwo\r\n2.5\r\n3");
});

void test("a patch or a difference beyond the bound is refused", async (t) => {
  const place = scratch(t, { a: "" });
  const want = Array.from({ length: HAND_LIMITS.diffLines + 1 }, (_, index) => `${index}\n`).join("");
  await assert.rejects(diffed(place, "a", want), { code: "PAYLOAD_TOO_LARGE" });
  await assert.rejects(diffed(place, "a", "x".repeat(HAND_LIMITS.patchBytes)), { code: "PAYLOAD_TOO_LARGE" });
  await assert.rejects(place.use(fileApplyTool, { path: "a", patch: "é".repeat(HAND_LIMITS.patchBytes) }), {
    code: "PAYLOAD_TOO_LARGE",
  });
});

void test("equal texts have no difference", async (t) => {
  const place = scratch(t, { a: TEN });
  const { text, data } = await place.use(fileDiffTool, { path: "a", want: TEN });
  assert.equal(text, "[no difference]");
  assert.partialDeepStrictEqual(data, { patch: "" });
});

void test("a folder that becomes a symlink between plan and run takes nothing outside", async (t) => {
  const place = scratch(t);
  mkdirSync(place.at("folder"));
  const input = { path: "folder/x", patch: "@@ -0,0 +1 @@\n+evil\n" };
  const plan = await fileApplyTool.plan(input, place.context);
  rmdirSync(place.at("folder"));
  symlinkSync(place.outside, place.at("folder"));
  await assert.rejects(place.run(fileApplyTool, input, plan), { code: "PLAN_CHANGED" });
  assert.deepEqual(readdirSync(place.outside), ["secret.txt"]);
});

void test("for any two texts, the diff applied to the first is the second, and again changes nothing", async (t) => {
  const place = scratch(t);
  const piece = fc.constantFrom("a", "b", "é", "\n", "\n", "\r\n", "\r", " ", "+", "-", "\\", "@@ -1 +1 ", "--- a/x\n");
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after);
      writeFileSync(place.at("a"), before);
      const made = await diffed(place, "a", after);
      await place.use(fileApplyTool, { path: "a", ...made });
      assert.equal(place.text("a"), after);
      const { data } = await place.use(fileApplyTool, { path: "a", ...made });
      assert.partialDeepStrictEqual(data, { already: true });
      assert.equal(place.text("a"), after);
    }),
    { numRuns: 150 },
  );
});
