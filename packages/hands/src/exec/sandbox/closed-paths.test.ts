import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { scratch } from "../../scratch.fixture.ts";
import { ClosedPaths, isClosedToOthers } from "./closed-paths.ts";

/** A folder that others may enter and read; those above it are temporary, and may be closed. */
function openFolder(t: TestContext): string {
  const folder = join(scratch(t), "open");
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  return folder;
}

function file(folder: string, name: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, "x");
  chmodSync(path, mode);
  return path;
}

function makeFolder(parent: string, name: string, mode: number): string {
  const path = join(parent, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

test("a file is closed unless others may read it, and a folder unless they may read and enter it", (t) => {
  const top = openFolder(t);
  const closed = new ClosedPaths();
  const expected: string[] = [];
  for (const mode of [0o600, 0o640, 0o644, 0o604, 0o660, 0o666, 0o711, 0o777, 0o602, 0o601]) {
    const path = file(top, `f${mode.toString(8)}`, mode);
    if ((mode & 0o004) === 0) expected.push(path);
  }
  for (const mode of [0o700, 0o711, 0o750, 0o755, 0o744, 0o777, 0o701, 0o705]) {
    const path = makeFolder(top, `d${mode.toString(8)}`, mode);
    if ((mode & 0o005) !== 0o005) expected.push(path);
  }
  assert.deepEqual([...closed.below(top)].sort(), expected.sort());
});

test("what lies in a closed folder is not listed, and what lies in open ones is, however deep", (t) => {
  const top = openFolder(t);
  const shut = makeFolder(top, "shut", 0o750);
  file(shut, "inside", 0o600);
  let deep = top;
  for (let depth = 0; depth < 20; depth += 1) deep = makeFolder(deep, "deep", 0o755);
  const secret = file(deep, "secret", 0o600);
  assert.deepEqual([...new ClosedPaths().below(top)].sort(), [secret, shut].sort());
});

test("symlinks are not followed: not to a closed file, not to a folder around them, not to nothing", (t) => {
  const top = openFolder(t);
  const outside = openFolder(t);
  file(outside, "secret", 0o600);
  symlinkSync(outside, join(top, "to-folder"));
  symlinkSync(join(outside, "secret"), join(top, "to-file"));
  symlinkSync(top, join(top, "circle"));
  symlinkSync(join(top, "nothing"), join(top, "dangling"));
  assert.deepEqual(new ClosedPaths().below(top), []);
  assert.deepEqual(new ClosedPaths().below(join(top, "to-folder")), []);
});

test("pipes and sockets count as files do, and are never opened", (t) => {
  const top = openFolder(t);
  const pipe = join(top, "pipe");
  execFileSync("mkfifo", ["-m", "600", pipe]);
  assert.deepEqual(new ClosedPaths().below(top), [pipe]);
  assert.equal(isClosedToOthers(pipe), true);
});

test("names that are added, removed and renamed are seen at once in a folder that was scanned before", (t) => {
  const top = openFolder(t);
  const below = makeFolder(top, "below", 0o755);
  const closed = new ClosedPaths();
  assert.deepEqual(closed.below(top), []);
  const one = file(below, "one", 0o600);
  assert.deepEqual(closed.below(top), [one]);
  renameSync(one, join(below, "two"));
  assert.deepEqual(closed.below(top), [join(below, "two")]);
  rmSync(join(below, "two"));
  assert.deepEqual(closed.below(top), []);
  rmSync(below, { recursive: true });
  assert.deepEqual(closed.below(top), []);
});

test("a folder that is not there, or is a file, has nothing below it", (t) => {
  const top = openFolder(t);
  const closed = new ClosedPaths();
  assert.deepEqual(closed.below(join(top, "nothing")), []);
  assert.deepEqual(closed.below(file(top, "file", 0o600)), []);
});

test("a path is closed to others by its own mode or by that of any folder above it", (t) => {
  // The folder for temporary files may be closed itself, so that only the difference to its neighbour counts.
  const top = openFolder(t);
  const open = file(top, "open", 0o644);
  chmodSync(join(top, ".."), 0o755);
  assert.equal(isClosedToOthers(open), false);
  assert.equal(isClosedToOthers(file(top, "own", 0o640)), true);
  const shut = makeFolder(top, "shut", 0o754);
  assert.equal(isClosedToOthers(file(shut, "inside", 0o644)), true);
  const passable = makeFolder(top, "passable", 0o711);
  assert.equal(isClosedToOthers(file(passable, "inside", 0o644)), false);
  assert.equal(isClosedToOthers(passable), true);
  symlinkSync(join(shut, "inside"), join(top, "link"));
  assert.equal(isClosedToOthers(join(top, "nothing")), false);
});

test("the system's own files of passwords are closed, and its lists of users are not", () => {
  assert.equal(isClosedToOthers("/etc/shadow"), true);
  assert.equal(isClosedToOthers("/etc/passwd"), false);
  assert.ok(new ClosedPaths().below("/etc").includes("/etc/shadow"));
});
