import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { HAND_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { applyHunks, applyMovedHunks, createDiff, isCrlf, readPatch, revertHunks } from "./patch.ts";
import { linesOf } from "./patch-text.ts";

/** Short texts of few different lines, so that hunks meet, repeat and touch the ends. */
const text = fc
  .tuple(
    fc.array(fc.constantFrom("a", "b", "c", "", "-- ", "@@ x", "\\ no", "+x", "-x", "é"), { maxLength: 14 }),
    fc.boolean(),
  )
  .map(([lines, isEnded]) => lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));

test("a difference, read back, turns one text into the other and back again", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const patch = await createDiff("f", before, after);
      if (before === after) return assert.equal(patch, "");
      const { hunks } = await readPatch(patch, ["f"]);
      assert.equal(applyHunks(before, hunks), after);
      assert.equal(revertHunks(after, hunks), before);
    }),
    { numRuns: 300 },
  );
});

test("a text that is not the one before is left alone, or differs only where the patch does not look", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, text, async (before, after, other) => {
      fc.pre(before !== after);
      const { hunks } = await readPatch(await createDiff("f", before, after), ["f"]);
      const applied = applyHunks(other, hunks);
      // Whatever it was applied to, taking it back gives the same text again: nothing is lost on the way.
      if (applied !== undefined) assert.equal(revertHunks(applied, hunks), other);
    }),
    { numRuns: 200 },
  );
});

test("git applies the same patches to the same result", (t) => {
  const folder = scratch(t);
  execFileSync("git", ["init", "-q", folder]);
  const samples = fc
    .sample(fc.tuple(text, text), { numRuns: 12, seed: 7 })
    .filter(([before, after]) => before !== after && before !== "");
  return (async () => {
    for (const [before, after] of samples) {
      writeFileSync(join(folder, "f"), before);
      const patch = await createDiff("f", before, after);
      const { status, stderr } = spawnSync("git", ["-C", folder, "apply", "-"], { input: patch, encoding: "utf8" });
      assert.equal(status, 0, `${stderr}\n${JSON.stringify([before, after])}\n${patch}`);
      assert.equal(readFileSync(join(folder, "f"), "utf8"), after);
    }
  })();
});

test("a patch that is cut off at any byte is refused, or says that it does not fit", async () => {
  const [before, after] = ["1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\nX\n4\n5\n6\n7\nY\nZ\n9\n"];
  const patch = await createDiff("f", before, after);
  for (let length = 0; length < patch.length; length++) {
    const result = await readPatch(patch.slice(0, length), ["f"]).then(
      ({ hunks }) => applyHunks(before, hunks),
      ({ code }: { code: string }) => code,
    );
    assert.equal(result, "BAD_ARGUMENTS", `${length} of ${patch.length}`);
  }
});

test("a hunk whose lines are not as many as its header counts is refused", async () => {
  const head = "--- a/f\n+++ b/f\n";
  for (const hunk of [
    "@@ -1,2 +1,2 @@\n a\n-b\n+c\n+d\n",
    "@@ -1,3 +1,2 @@\n a\n-b\n+c\n",
    "@@ -1 +1 @@\n a\n",
    "@@ -1,1 +1,1 @@\nxa\n",
    "@@ -1 +1 @@\n-a\n+b",
    "@@ -1,999999999999 +1 @@\n-a\n+b\n",
    "@@ bad @@\n-a\n+b\n",
  ])
    await assert.rejects(readPatch(head + hunk, ["f"]), { code: "BAD_ARGUMENTS" }, JSON.stringify(hunk));
});

test("a patch of another file, of several files, or of more than lines is refused", async () => {
  const body = "@@ -1 +1 @@\n-a\n+b\n";
  for (const patch of [
    `--- a/g\n+++ b/g\n${body}`,
    `--- a/f\n+++ b/g\n${body}`,
    `--- a/../f\n+++ b/../f\n${body}`,
    `--- a/f\n+++ /dev/null\n${body}`,
    `--- a/f\n+++ b/f\n${body}--- a/g\n+++ b/g\n${body}`,
    `diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n${body}`,
    "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n",
    "",
    "words\n",
  ])
    await assert.rejects(readPatch(patch, ["f"]), { code: "BAD_ARGUMENTS" }, JSON.stringify(patch));
  for (const patch of [`--- a/f\n+++ b/f\n${body}`, `--- f\n+++ f\n${body}`, body])
    assert.equal((await readPatch(patch, ["f"])).hunks.length, 1, JSON.stringify(patch));
});

test("a new file is made only of nothing", async () => {
  const { hunks } = await readPatch("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", ["f"]);
  assert.equal(applyHunks("", hunks), "a\nb\n");
  assert.equal(applyHunks("old\n", hunks), undefined);
});

test("the signature of a mail behind a patch is no part of it", async () => {
  const patch = await createDiff("f", "a\n-- \nb\n", "a\n-- \nc\n");
  const { hunks } = await readPatch(`${patch}-- \n2.40.1\n\n`, ["f"]);
  assert.equal(applyHunks("a\n-- \nb\n", hunks), "a\n-- \nc\n");
});

test("a patch with LF fits a file with CRLF and keeps its line ends; a mixed file has to fit to the letter", async () => {
  const { hunks } = await readPatch(await createDiff("f", "a\nb\n", "a\nc\n"), ["f"]);
  assert.equal(applyHunks("a\r\nb\r\n", hunks), "a\r\nc\r\n");
  assert.equal(applyHunks("a\r\nb\n", hunks), undefined);
  assert.deepEqual(["a\r\nb\r\n", "a\r\nb", "a\nb", "a", "", "\r\n\n"].map(isCrlf), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("lines that have moved are found; a hunk without old lines has no place to look for", async () => {
  const patch = await readPatch(await createDiff("f", "1\n2\n3\n4\n5\n", "1\n2\nX\n4\n5\n"), ["f"]);
  assert.equal(await applyMovedHunks("0\n0\n1\n2\n3\n4\n5\n6\n", patch), "0\n0\n1\n2\nX\n4\n5\n6\n");
  assert.equal(await applyMovedHunks("1\n2\n9\n4\n5\n", patch), undefined);
  const adding = await readPatch("--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", ["f"]);
  assert.equal(await applyMovedHunks("x\n", adding), undefined);
});

test("texts that differ too much, and patches that are too long, are refused with what to do instead", async () => {
  const lines = (prefix: string, count: number): string =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}\n`).join("");
  const count = HAND_LIMITS.diffLines + 10;
  await assert.rejects(createDiff("f", lines("a", count), lines("b", count)), {
    code: "PAYLOAD_TOO_LARGE",
    message: /whole file/,
  });
  const long = `--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+${"x".repeat(HAND_LIMITS.patchBytes)}\n`;
  await assert.rejects(readPatch(long, ["f"]), { code: "PAYLOAD_TOO_LARGE", message: /whole file/ });
});

test("a text is its lines, each with its end", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é") }), (any) => {
      const lines = linesOf(any);
      assert.equal(lines.join(""), any);
      assert.ok(lines.slice(0, -1).every((line) => line.endsWith("\n") && line.indexOf("\n") === line.length - 1));
    }),
  );
});
