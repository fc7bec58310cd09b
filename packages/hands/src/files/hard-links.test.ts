import assert from "node:assert/strict";
import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import {
  findHardLinks,
  findLinkIn,
  hardLinkKey,
  inodeKey,
  isHardLinked,
  isWorkspaceFile,
  isWorkspacePath,
} from "./hard-links.ts";
import { holdFolder } from "./held-folder.ts";
import { findMountAliases, readMounts } from "./mounts.ts";
import type { MountEntry } from "./mounts.ts";

const statOf = (path: string) => lstatSync(path, { bigint: true });

test("a file of the state is recognised under another name, wherever that is", (t) => {
  const folder = scratch(t);
  for (const name of ["state/deep", "workspace"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "state/deep/key"), "secret");
  linkSync(join(folder, "state/deep/key"), join(folder, "workspace/notes.txt"));
  assert.equal(findLinkIn(join(folder, "workspace/notes.txt"), join(folder, "state")), join(folder, "state/deep/key"));
  writeFileSync(join(folder, "workspace/own"), "x");
  assert.equal(findLinkIn(join(folder, "workspace/own"), join(folder, "state")), undefined);
  linkSync(join(folder, "workspace/own"), join(folder, "workspace/own2"));
  assert.equal(findLinkIn(join(folder, "workspace/own"), join(folder, "state")), undefined);
  assert.equal(findLinkIn(join(folder, "none"), join(folder, "state")), undefined);
});

test("only regular files with several names count as hard-linked", (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "dir/sub"), { recursive: true });
  writeFileSync(join(folder, "one"), "");
  symlinkSync("one", join(folder, "soft"));
  assert.ok(!isHardLinked(statOf(join(folder, "dir"))), "a folder has a link for each folder in it");
  assert.ok(!isHardLinked(statOf(join(folder, "soft"))));
  assert.equal(hardLinkKey(join(folder, "one")), undefined);
  linkSync(join(folder, "one"), join(folder, "two"));
  assert.equal(hardLinkKey(join(folder, "one")), inodeKey(statOf(join(folder, "two"))));
  assert.equal(hardLinkKey(join(folder, "missing")), undefined);
});

test("a workspace file belongs to the workspace only when all its names are in it", (t) => {
  const folder = scratch(t);
  const workspace = join(folder, "workspace");
  for (const name of ["workspace/sub", "outside"]) mkdirSync(join(folder, name), { recursive: true });
  const file = join(workspace, "a");
  writeFileSync(file, "x");
  assert.ok(isWorkspacePath(file, workspace), "a file with one name");
  linkSync(file, join(workspace, "sub/b"));
  assert.ok(isWorkspacePath(file, workspace), "both names are here");
  linkSync(file, join(folder, "outside/c"));
  assert.ok(!isWorkspacePath(file, workspace), "a third is outside");
  assert.ok(!isWorkspaceFile(statOf(file), workspace, findHardLinks(workspace)));
  rmSync(join(folder, "outside/c"));
  assert.ok(isWorkspaceFile(statOf(file), workspace, findHardLinks(workspace)));
  assert.ok(isWorkspacePath(join(workspace, "missing"), workspace), "what is not there cannot be read");
});

test("the links of a folder are found at any depth, and links to folders are not followed", (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "a/b/c"), { recursive: true });
  writeFileSync(join(folder, "a/one"), "");
  linkSync(join(folder, "a/one"), join(folder, "a/b/c/two"));
  symlinkSync("..", join(folder, "a/b/up"));
  const found = findHardLinks(folder);
  assert.equal(found.size, 1);
  const names = found.get(inodeKey(statOf(join(folder, "a/one")))) ?? [];
  assert.deepEqual(
    names.toSorted((a, b) => a.localeCompare(b)),
    [join(folder, "a/b/c/two"), join(folder, "a/one")],
  );
  assert.equal(findHardLinks(join(folder, "missing")).size, 0);
});

test("a held folder is found under its new name, and its entries stay the same", (t) => {
  const folder = scratch(t);
  const [old, renamed] = [join(folder, "old"), join(folder, "new")];
  mkdirSync(old);
  writeFileSync(join(old, "file"), "mine");
  const held = holdFolder(old);
  renameSync(old, renamed);
  mkdirSync(old);
  writeFileSync(join(old, "file"), "another's");
  assert.equal(held.path, renamed);
  assert.equal(readFileSync(held.entry("file"), "utf8"), "mine");
  assert.equal(holdFolder(renamed), held, "the same folder is opened once");
  assert.notEqual(holdFolder(old), held);
});

test("a held folder that was removed keeps the last name that it had", (t) => {
  const folder = scratch(t);
  const [old, renamed] = [join(folder, "old"), join(folder, "new")];
  mkdirSync(old);
  const held = holdFolder(old);
  renameSync(old, renamed);
  assert.equal(held.path, renamed);
  rmSync(renamed, { recursive: true });
  assert.equal(held.path, renamed);
});

test("a link to a folder is held as the folder itself; what is no folder is refused", (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  assert.equal(holdFolder(join(folder, "link")).path, join(folder, "real"));
  assert.throws(() => holdFolder(join(folder, "missing")), { code: "ENOENT" });
});

test("the table of mounts of this process has its root, and no entry without a place", () => {
  const { entries, text } = readMounts();
  assert.ok(text.length > 0);
  assert.ok(entries.some(({ at }) => at === "/"));
  assert.ok(
    entries.every(
      ({ at, root, device, type }) => at.startsWith("/") && root !== "" && device.includes(":") && type !== "",
    ),
  );
});

test("a folder is also reached by every other mount of its file system that shows it", (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "data/state"), { recursive: true });
  // The same folder by another path, as a bind mount would show it.
  symlinkSync(join(folder, "data"), join(folder, "bind"));
  symlinkSync("/", join(folder, "host"));
  const mount = (at: string, root: string, device = "8:1"): MountEntry => ({ at, root, device, type: "ext4" });
  const state = join(folder, "data/state");
  const mounts = [mount("/", "/"), mount(join(folder, "bind"), join(folder, "data")), mount(join(folder, "host"), "/")];
  assert.deepEqual(findMountAliases(state, mounts), [join(folder, "bind/state"), join(folder, "host", state)]);
  assert.deepEqual(
    findMountAliases(state, [mount("/", "/"), mount(join(folder, "bind"), join(folder, "data"), "8:2")]),
    [],
  );
  assert.deepEqual(findMountAliases(state, [mount("/", "/"), mount(join(folder, "bind"), "/elsewhere")]), []);
  assert.deepEqual(
    findMountAliases(state, [mount("/", "/"), mount(join(folder, "missing"), join(folder, "data"))]),
    [],
    "a hidden mount",
  );
  assert.deepEqual(findMountAliases(state, []), []);
});
