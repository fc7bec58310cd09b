import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "./files.fixture.ts";
import { writeFileTool } from "./write-file.ts";

void test("a file is made, with the folders it needs", async (t) => {
  const { use, text, at } = scratch(t);
  const { data } = await use(writeFileTool, { file_path: "a/b/c.txt", content: "olá\n" });
  assert.equal(text("a/b/c.txt"), "olá\n");
  assert.partialDeepStrictEqual(data, { path: at("a/b/c.txt"), bytes: 5 });
});

void test("a file is replaced whole, and may become empty", async (t) => {
  const { use, text } = scratch(t, { a: "a long old text" });
  await use(writeFileTool, { file_path: "a", content: "" });
  assert.equal(text("a"), "");
});

void test("outside of the workspace no folder is made", async (t) => {
  const { use, outside } = scratch(t);
  await assert.rejects(use(writeFileTool, { file_path: join(outside, "new/x"), content: "" }), { code: "TOOL_FAILED" });
  assert.deepEqual(readdirSync(outside), ["secret.txt"]);
});

void test("a write through a symlink is planned as a write to what it leads to", async (t) => {
  const { at, context, outside } = scratch(t);
  symlinkSync(join(outside, "secret.txt"), at("link"));
  const plan = await writeFileTool.plan({ file_path: "link", content: "x" }, context);
  assert.partialDeepStrictEqual(plan, { operation: "write", path: join(outside, "secret.txt"), inWorkspace: false });
});

void test("a folder that becomes a symlink between plan and run takes nothing outside", async (t) => {
  const { run, at, context, outside } = scratch(t);
  mkdirSync(at("folder"));
  const input = { file_path: "folder/new.txt", content: "evil" };
  const plan = await writeFileTool.plan(input, context);
  rmdirSync(at("folder"));
  symlinkSync(outside, at("folder"));
  await assert.rejects(run(writeFileTool, input, plan), { code: "PLAN_CHANGED" });
  assert.deepEqual(readdirSync(outside), ["secret.txt"]);
});
