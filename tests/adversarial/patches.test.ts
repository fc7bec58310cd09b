import assert from "node:assert/strict";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { perform, target } from "./attack.fixture.ts";

/* Patches that mean another file than the one they are applied to, or more than its lines. */

const BODY = "@@ -1 +1 @@\n-one\n+evil\n";

const ASTRAY: readonly string[] = [
  `--- a/../work-outside/secret.txt\n+++ b/../work-outside/secret.txt\n${BODY}`,
  `--- a/a.txt\n+++ b/../work-outside/mark\n${BODY}`,
  `--- /etc/passwd\n+++ /etc/passwd\n${BODY}`,
  `--- a/a.txt\n+++ /tmp/mark\n${BODY}`,
  `--- a/a.txt\n+++ b/b.txt\n${BODY}`,
  `--- a/b.txt\n+++ b/a.txt\n${BODY}`,
  `--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n`,
  `--- /dev/null\n+++ /dev/null\n${BODY}`,
  `--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+evil\n`,
  `--- "a/a.txt"\n+++ "b/..\\057mark"\n${BODY}`,
  `--- a/a.txt\t2020-01-01\n+++ b/mark\t2020-01-01\n${BODY}`,
  `Index: ../work-outside/mark\n--- a.txt\n+++ a.txt\n${BODY}`,
  `diff --git a/a.txt b/mark\nrename from a.txt\nrename to mark\n--- a/a.txt\n+++ b/mark\n${BODY}`,
  "diff --git a/a.txt b/mark\nsimilarity index 100%\nrename from a.txt\nrename to mark\n",
  "diff --git a/a.txt b/mark\nsimilarity index 100%\ncopy from a.txt\ncopy to mark\n",
  `diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n--- a/a.txt\n+++ b/a.txt\n${BODY}`,
  "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n",
  `diff --git a/mark b/mark\nnew file mode 120000\n--- /dev/null\n+++ b/mark\n@@ -0,0 +1 @@\n+/etc/passwd\n`,
  "diff --git a/a.txt b/a.txt\nGIT binary patch\nliteral 3\nKcmZ?A\n",
  `--- a/a.txt\n+++ b/a.txt\n${BODY}--- a/b.txt\n+++ b/b.txt\n${BODY}`,
  `--- a/a.txt\n+++ b/a.txt\n${BODY}diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n${BODY}`,
];

const MISPLACED: readonly string[] = [
  "@@ -99999999999999999999 +1 @@\n-one\n+evil\n",
  "@@ -9007199254740991 +1 @@\n-one\n+evil\n",
  "@@ -4294967297 +1 @@\n-one\n+evil\n",
  "@@ --1 +1 @@\n-one\n+evil\n",
  "@@ -0 +0 @@\n-one\n+evil\n",
  "@@ -2 +2 @@\n-one\n+evil\n",
  "@@ -1 +1 @@\n-One\n+evil\n",
  "@@ -1 +1 @@\n-one \n+evil\n",
  "@@ -1,9999999 +1,1 @@\n-one\n+evil\n",
  "@@ -2 +2 @@\n-two\n+evil\n@@ -1 +1 @@\n-one\n+evil\n",
  "@@ -1 +1 @@\n-one\n+evil\n@@ -1 +1 @@\n-one\n+evil\n",
  "@@ -1,1 +1,1 @@\n-one\n+evil\n@@ -3 +3 @@\n-tree\n+evil\n",
  "no patch at all\n",
  "@@ @@\n-one\n+evil\n",
];

for (const [title, patches] of [
  ["a patch that names another file, or does more than change lines, is refused", ASTRAY],
  ["a patch that fits nowhere exactly changes nothing", MISPLACED],
] as const) {
  test(title, async (t) => {
    const at = await target(t);
    at.put("a.txt", "one\ntwo\nthree\n");
    at.put("b.txt", "one\n");
    for (const patch of patches) {
      const input = { path: "a.txt", patch };
      const judgement = await at.hand.judge({ id: "act", tool: "file_apply", input, callId: "c" });
      const { fault } =
        "code" in judgement ? { fault: judgement.code } : await perform(at.hand, "file_apply", input, judgement.hash);
      assert.match(fault ?? "applied", /^(BAD_ARGUMENTS|CONFLICT)$/, patch);
      assert.equal(readFileSync(join(at.workspace, "a.txt"), "utf8"), "one\ntwo\nthree\n", patch);
      assert.equal(readFileSync(join(at.workspace, "b.txt"), "utf8"), "one\n", patch);
      assert.deepEqual(readdirSync(at.workspace).sort(), ["a.txt", "b.txt"], patch);
      assert.equal(at.isHarmed(), false, patch);
    }
  });
}

test("a patch for a link is judged as one for what it leads to, whatever its header says", async (t) => {
  const at = await target(t);
  symlinkSync(join(at.outside, "secret.txt"), join(at.workspace, "a.txt"));
  const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-kept-from-the-model\n+evil\n";
  const judgement = await at.hand.judge({
    id: "act",
    tool: "file_apply",
    input: { path: "a.txt", patch },
    callId: "c",
  });
  assert.ok(!("code" in judgement) && judgement.plan.kind === "file");
  assert.deepEqual([judgement.plan.inWorkspace, judgement.verdict.decision], [false, "ask"]);
  assert.equal((await at.attempt("file_apply", { path: "a.txt", patch })).fault, "APPROVAL_DENIED");
  assert.equal(at.isHarmed(), false);
});

test("a patch of very many hunks, or of very long ones, is answered in time", async (t) => {
  const at = await target(t);
  at.put("a.txt", "same\n".repeat(20_000));
  const many = Array.from({ length: 9000 }, (_, at0) => `@@ -${at0 * 2 + 2} +${at0 * 2 + 2} @@\n-same\n+Same\n`).join(
    "",
  );
  const adrift = `@@ -1,2001 +1,2001 @@\n${" same\n".repeat(2000)}-other\n+evil\n`;
  const from = performance.now();
  for (const patch of [
    many,
    adrift,
    `${adrift}${adrift}`,
    "@@ -1 +1 @@\n".repeat(9000),
    "x".repeat(HAND_LIMITS.patchBytes),
  ]) {
    const input = { path: "a.txt", patch };
    const judgement = await at.hand.judge({ id: "act", tool: "file_apply", input, callId: "c" });
    if (!("code" in judgement)) await perform(at.hand, "file_apply", input, judgement.hash);
  }
  assert.ok(performance.now() - from < 20_000, `${performance.now() - from} ms`);
  assert.doesNotMatch(readFileSync(join(at.workspace, "a.txt"), "utf8"), /evil/);
});
