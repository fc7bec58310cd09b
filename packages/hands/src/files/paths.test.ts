import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { readPlan, displayPath, writePlan } from "./paths.ts";
import { isWithin } from "./is-within.ts";
import { scratch } from "../tools/files.fixture.ts";

void test("a plan shows the absolute path of a relative one", async (t) => {
  const { context, at } = scratch(t, { "a/b.txt": "" });
  const plan = { kind: "file", operation: "read", path: at("a/b.txt"), inWorkspace: true };
  assert.deepEqual(await readPlan("a/b.txt", context), plan);
  assert.deepEqual(await readPlan("./a//./b.txt", context), plan);
  assert.deepEqual(await readPlan(at("a/b.txt"), context), plan);
  assert.equal((await readPlan(".", context)).path, context.workspace);
  assert.equal((await readPlan("/", context)).path, "/");
});

void test("a symlink that leads out of the workspace is planned as what it leads to", async (t) => {
  const { context, at, outside } = scratch(t);
  symlinkSync("/etc/passwd", at("innocent"));
  symlinkSync(outside, at("folder"));
  const [file, below] = [await readPlan("innocent", context), await writePlan("folder/new/x", "", context)];
  assert.deepEqual([file.path, file.inWorkspace], ["/etc/passwd", false]);
  assert.deepEqual([below.path, below.inWorkspace], [join(outside, "new/x"), false]);
});

void test("links through links, and parents in their targets, are resolved as the system does", async (t) => {
  const { context, at } = scratch(t, { "deep/er/file": "" });
  mkdirSync(at("other"));
  symlinkSync("../deep/er", at("other/one"));
  symlinkSync("other/one/../er/file", at("two"));
  assert.equal((await readPlan("two", context)).path, at("deep/er/file"));
});

void test("a circle of symlinks ends in a fault", async (t) => {
  const { context, at } = scratch(t);
  symlinkSync("two", at("one"));
  symlinkSync("one", at("two"));
  await assert.rejects(readPlan("one", context), { code: "TOOL_FAILED" });
});

void test("a folder whose name only begins like the workspace is outside of it", async (t) => {
  const { context, outside } = scratch(t);
  const plan = await readPlan(join(outside, "secret.txt"), context);
  assert.equal(plan.inWorkspace, false);
  assert.equal(isWithin("/srv", "/srv-evil/x"), false);
  assert.equal(isWithin("/srv", "/srv/..x"), true);
  assert.equal(isWithin("/", "/etc"), true);
});

for (const path of ["../secret", "a/../b", "/etc/../etc/passwd", "a/.."]) {
  void test(`the path ${path} is refused`, async (t) => {
    await assert.rejects(readPlan(path, scratch(t).context), { code: "BAD_ARGUMENTS" });
  });
}

void test("an empty path, a NUL and a path beyond its bound are refused", async (t) => {
  const { context } = scratch(t);
  for (const path of ["", "a\0b", "x".repeat(HAND_LIMITS.pathChars + 1)]) {
    await assert.rejects(readPlan(path, context), { code: "BAD_ARGUMENTS" });
  }
  await assert.rejects(readPlan("x".repeat(300), context), { code: "TOOL_FAILED" });
});

void test("the kernel's folders and the hand's own state are refused, by name and through links", async (t) => {
  const { context, at } = scratch(t);
  symlinkSync("/proc/self/root/etc/passwd", at("door"));
  symlinkSync(context.state, at("mine"));
  for (const path of ["/proc/self/environ", "/sys/kernel", "/dev/null", "door", ".state/ledger.db", "mine/ledger.db"]) {
    await assert.rejects(readPlan(path, context), { code: "POLICY_DENIED" }, path);
  }
});

void test("the digest of a write follows what decides the content", async (t) => {
  const { context } = scratch(t);
  const digests = await Promise.all(["a", "a", "b"].map(async (text) => (await writePlan("x", text, context)).digest));
  assert.equal(digests[0], digests[1]);
  assert.notEqual(digests[0], digests[2]);
});

void test("people see paths relative to the workspace, and others whole", async (t) => {
  const { context, at } = scratch(t);
  assert.deepEqual(
    [displayPath(at("a/b"), context), displayPath(context.workspace, context), displayPath("/etc/x", context)],
    ["a/b", ".", "/etc/x"],
  );
});
