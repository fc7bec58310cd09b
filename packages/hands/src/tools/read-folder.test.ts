import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { scratch } from "./files.fixture.ts";
import { readFolderTool } from "./read-folder.ts";

void test("004-08: a folder is listed by name, hidden entries too, with types, sizes and times", async (t) => {
  const { use, at } = scratch(t, { "f/b.txt": "12345", "f/.hidden": "" });
  mkdirSync(at("f/sub"));
  symlinkSync("b.txt", at("f/link"));
  execFileSync("mkfifo", [at("f/pipe")]);
  chmodSync(at("f/b.txt"), 0o640);
  utimesSync(at("f/b.txt"), 86_400, 86_400);
  const { text, data } = await use(readFolderTool, { dir_path: "f" });
  const lines = text.split("\n");
  assert.match(lines[1] ?? "", /^-rw-r----- +5 1970-01-02 00:00 b\.txt$/);
  assert.match(lines[2] ?? "", /^l.* link -> b\.txt$/);
  assert.match(lines[4] ?? "", /^d.* sub\/$/);
  const types = { ".hidden": "file", "b.txt": "file", link: "link", pipe: "other", sub: "folder" };
  assert.partialDeepStrictEqual(data, {
    path: at("f"),
    truncated: false,
    entries: Object.entries(types).map(([name, type]) => ({ name, type })),
  });
  assert.partialDeepStrictEqual(data, { entries: [{}, { size: 5, mtime: 86_400_000 }, { target: "b.txt" }] });
});

void test("an empty folder says so", async (t) => {
  const { use, at } = scratch(t);
  mkdirSync(at("empty"));
  assert.equal((await use(readFolderTool, { dir_path: "empty" })).text, "[the folder is empty]");
});

void test("a folder with more entries than the bound is cut and says so", async (t) => {
  const { use, at } = scratch(t);
  mkdirSync(at("many"));
  for (let index = 0; index <= HAND_LIMITS.entries; index += 1) writeFileSync(at(`many/${index}`), "");
  const { text, data } = await use(readFolderTool, { dir_path: "many" });
  assert.equal(text.split("\n").length, HAND_LIMITS.entries + 1);
  assert.match(text, new RegExp(`\\[${HAND_LIMITS.entries} of ${HAND_LIMITS.entries + 1} entries;`));
  assert.partialDeepStrictEqual(data, { truncated: true });
});

void test("a file and a missing folder are refused", async (t) => {
  const { use } = scratch(t, { file: "" });
  await assert.rejects(use(readFolderTool, { dir_path: "file" }), /file is not a folder/);
  await assert.rejects(use(readFolderTool, { dir_path: "none" }), /There is no/);
});
