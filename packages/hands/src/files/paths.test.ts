import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { readPlan, shown, writePlan } from "./paths.ts";
import { within } from "./is-within.ts";
import { scratch } from "../tools/files.fixture.ts";

void test("a plan shows the absolute path of a relative one", async (t) => {
  const { bench, at } = scratch(t, { "a/b.txt": "" });
  const plan = { kind: "file", operation: "read", path: at("a/b.txt"), inWorkspace: true };
  assert.deepEqual(await readPlan("a/b.txt", bench), plan);
  assert.deepEqual(await readPlan("./a//./b.txt", bench), plan);
  assert.deepEqual(await readPlan(at("a/b.txt"), bench), plan);
  assert.equal((await readPlan(".", bench)).path, bench.workspace);
  assert.equal((await readPlan("/", bench)).path, "/");
});

void test("a symlink that leads out of the workspace is planned as what it leads to", async (t) => {
  const { bench, at, outside } = scratch(t);
  symlinkSync("/etc/passwd", at("innocent"));
  symlinkSync(outside, at("folder"));
  const [file, below] = [await readPlan("innocent", bench), await writePlan("folder/new/x", "", bench)];
  assert.deepEqual([file.path, file.inWorkspace], ["/etc/passwd", false]);
  assert.deepEqual([below.path, below.inWorkspace], [join(outside, "new/x"), false]);
});

void test("links through links, and parents in their targets, are resolved as the system does", async (t) => {
  const { bench, at } = scratch(t, { "deep/er/file": "" });
  mkdirSync(at("other"));
  symlinkSync("../deep/er", at("other/one"));
  symlinkSync("other/one/../er/file", at("two"));
  assert.equal((await readPlan("two", bench)).path, at("deep/er/file"));
});

void test("a circle of symlinks ends in a fault", async (t) => {
  const { bench, at } = scratch(t);
  symlinkSync("two", at("one"));
  symlinkSync("one", at("two"));
  await assert.rejects(readPlan("one", bench), { code: "TOOL_FAILED" });
});

void test("a folder whose name only begins like the workspace is outside of it", async (t) => {
  const { bench, outside } = scratch(t);
  const plan = await readPlan(join(outside, "secret.txt"), bench);
  assert.equal(plan.inWorkspace, false);
  assert.equal(within("/srv", "/srv-evil/x"), false);
  assert.equal(within("/srv", "/srv/..x"), true);
  assert.equal(within("/", "/etc"), true);
});

for (const path of ["../secret", "a/../b", "/etc/../etc/passwd", "a/.."]) {
  void test(`the path ${path} is refused`, async (t) => {
    await assert.rejects(readPlan(path, scratch(t).bench), { code: "BAD_ARGUMENTS" });
  });
}

void test("an empty path, a NUL and a path beyond its bound are refused", async (t) => {
  const { bench } = scratch(t);
  for (const path of ["", "a\0b", "x".repeat(HAND_LIMITS.pathChars + 1)]) {
    await assert.rejects(readPlan(path, bench), { code: "BAD_ARGUMENTS" });
  }
  await assert.rejects(readPlan("x".repeat(300), bench), { code: "TOOL_FAILED" });
});

void test("the kernel's folders and the hand's own state are refused, by name and through links", async (t) => {
  const { bench, at } = scratch(t);
  symlinkSync("/proc/self/root/etc/passwd", at("door"));
  symlinkSync(bench.state, at("mine"));
  for (const path of ["/proc/self/environ", "/sys/kernel", "/dev/null", "door", ".state/ledger.db", "mine/ledger.db"]) {
    await assert.rejects(readPlan(path, bench), { code: "POLICY_DENIED" }, path);
  }
});

void test("the digest of a write follows what decides the content", async (t) => {
  const { bench } = scratch(t);
  const digests = await Promise.all(["a", "a", "b"].map(async (text) => (await writePlan("x", text, bench)).digest));
  assert.equal(digests[0], digests[1]);
  assert.notEqual(digests[0], digests[2]);
});

void test("people see paths relative to the workspace, and others whole", async (t) => {
  const { bench, at } = scratch(t);
  assert.deepEqual(
    [shown(at("a/b"), bench), shown(bench.workspace, bench), shown("/etc/x", bench)],
    ["a/b", ".", "/etc/x"],
  );
});
