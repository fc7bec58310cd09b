import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { scratch, executionOf } from "./files.fixture.ts";
import { findFilesTool } from "./find-files.ts";

const FILES = {
  "a.ts": "",
  "src/b.ts": "",
  "src/deep/c.ts": "",
  "src/deep/c.md": "",
  ".github/ci.yml": "",
  "node_modules/x/d.ts": "",
  ".git/config": "",
};

void test("a pattern without a slash is tried on names at any depth", async (t) => {
  const { use } = scratch(t, FILES);
  const { text, data } = await use(findFilesTool, { pattern: "*.ts" });
  assert.equal(text, "a.ts\nsrc/b.ts\nsrc/deep/c.ts");
  assert.partialDeepStrictEqual(data, { files: ["a.ts", "src/b.ts", "src/deep/c.ts"], truncated: false });
});

void test("a pattern with a slash is tried on the path from the folder", async (t) => {
  const { use } = scratch(t, FILES);
  const found = async (pattern: string, path = ".") => (await use(findFilesTool, { pattern, path })).text;
  assert.equal(await found("src/*.ts"), "src/b.ts");
  assert.equal(await found("**/c.{md,txt}"), "src/deep/c.md");
  assert.equal(await found("deep/*", "src"), "src/deep/c.md\nsrc/deep/c.ts");
  assert.equal(await found("*.yml"), ".github/ci.yml");
  assert.equal(await found("*.none"), "[no file matches *.none]");
});

void test("folders that machines fill are entered when the pattern or the path names them", async (t) => {
  const { use } = scratch(t, FILES);
  assert.equal((await use(findFilesTool, { pattern: "node_modules/**/*.ts" })).text, "node_modules/x/d.ts");
  assert.equal((await use(findFilesTool, { pattern: "*", path: ".git" })).text, ".git/config");
});

void test("the hand's own state is not entered, and links are not followed", async (t) => {
  const { use, at, outside } = scratch(t);
  symlinkSync(outside, at("out"));
  assert.equal((await use(findFilesTool, { pattern: "ledger.db" })).text, "[no file matches ledger.db]");
  assert.equal((await use(findFilesTool, { pattern: "secret.txt" })).text, "[no file matches secret.txt]");
});

void test("files outside of the workspace are given by their whole path", async (t) => {
  const { use, outside } = scratch(t);
  assert.equal((await use(findFilesTool, { pattern: "*", path: outside })).text, join(outside, "secret.txt"));
});

void test("more matches than the bound are cut and say so", async (t) => {
  const { use, at } = scratch(t);
  mkdirSync(at("many"));
  for (let index = 0; index <= HAND_LIMITS.entries; index += 1) writeFileSync(at(`many/${index}`), "");
  const { text, data } = await use(findFilesTool, { pattern: "many/*" });
  assert.match(text, /\[not everything was seen: there are more than 1000 matches/);
  assert.partialDeepStrictEqual(data, { truncated: true });
});

void test("folders beyond the depth are left out and say so", async (t) => {
  const { use, at } = scratch(t);
  const deep = Array.from({ length: HAND_LIMITS.folderDepth + 2 }, () => "d").join("/");
  mkdirSync(at(deep), { recursive: true });
  writeFileSync(at(`${deep}/lost`), "");
  assert.match((await use(findFilesTool, { pattern: "lost" })).text, /some folders are more than 64 deep/);
});

void test("a search that is aborted ends", async (t) => {
  const { context } = scratch(t, FILES);
  const input = { pattern: "*" };
  const execution = executionOf(await findFilesTool.plan(input, context), context, AbortSignal.abort());
  await assert.rejects(findFilesTool.run(input, execution), { code: "TOOL_FAILED", message: /stopped/ });
});
