import assert from "node:assert/strict";
import fs, { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { PrivateFileIndex } from "./private-files.ts";
import { scratch } from "../scratch.fixture.ts";

const LONG_AGO = new Date(2000, 1, 1);

test("files are found by name at any depth, and generated folders are left out", (t) => {
  const root = scratch(t);
  for (const folder of ["a/b", "node_modules/c", ".git"]) mkdirSync(join(root, folder), { recursive: true });
  for (const file of [".env", "a/.env.local", "a/b/id_rsa", "a/b/plain", "node_modules/c/.env", ".git/.env"])
    writeFileSync(join(root, file), "");
  const { paths, isWhole } = new PrivateFileIndex(root, [".env", ".env.*", "id_rsa"]).find();
  assert.deepEqual(
    paths.toSorted(),
    [".env", "a/.env.local", "a/b/id_rsa"].map((name) => join(root, name)),
  );
  assert.equal(isWhole, true);
});

test("a file that comes, goes or is renamed is seen at once, also when the times of its folder are set back", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "a"));
  const index = new PrivateFileIndex(root, [".env"]);
  const found = (): readonly string[] => index.find().paths;
  const setBack = (): void => utimesSync(join(root, "a"), LONG_AGO, LONG_AGO);
  assert.deepEqual(found(), []);
  for (let round = 0; round < 50; round += 1) {
    writeFileSync(join(root, "a/plain"), "");
    setBack();
    assert.deepEqual(found(), []);
    renameSync(join(root, "a/plain"), join(root, "a/.env"));
    setBack();
    assert.deepEqual(found(), [join(root, "a/.env")]);
    rmSync(join(root, "a/.env"));
    setBack();
    assert.deepEqual(found(), []);
  }
});

test("a folder that has not changed for a while is read once", (t) => {
  const root = scratch(t);
  writeFileSync(join(root, ".env"), "");
  const later = performance.timeOrigin + performance.now() + 10 * HAND_LIMITS.settledMs;
  t.mock.method(Date, "now", () => later);
  const reads = t.mock.method(fs, "readdirSync");
  syncBuiltinESMExports();
  t.after(syncBuiltinESMExports);
  const index = new PrivateFileIndex(root, [".env"]);
  for (let round = 0; round < 3; round += 1) assert.equal(index.find().paths.length, 1);
  assert.equal(reads.mock.callCount(), 1);
  writeFileSync(join(root, "more"), "");
  index.find();
  assert.equal(reads.mock.callCount(), 2);
});

test("a folder that does not exist holds nothing, and a walk that is too long says so", (t) => {
  const root = scratch(t);
  assert.deepEqual(new PrivateFileIndex(join(root, "none"), [".env"]).find(), { paths: [], isWhole: true });
  for (let file = 0; file < 20; file += 1) writeFileSync(join(root, String(file)), "");
  const limits = HAND_LIMITS as { searchFiles: number };
  const before = limits.searchFiles;
  try {
    limits.searchFiles = 10;
    assert.equal(new PrivateFileIndex(root, [".env"]).find().isWhole, false);
  } finally {
    limits.searchFiles = before;
  }
});
