import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { scratch } from "../scratch.fixture.ts";
import { findMountAliases, readMounts } from "./mounts.ts";
import type { MountEntry } from "./mounts.ts";

const entry = (at: string, root: string, device = "8:1"): MountEntry => ({ at, root, device, type: "ext4" });

/** Folders that are there. */
function folders(t: TestContext, ...names: readonly string[]): string {
  const top = scratch(t);
  for (const name of names) mkdirSync(join(top, name), { recursive: true });
  return top;
}

test("the kernel's table has the root of this process, each with where it is and what it is of", () => {
  const { text, entries } = readMounts();
  assert.equal(entries.length, text.trim().split("\n").length);
  assert.ok(entries.some(({ at }) => at === "/"));
  for (const { at, device, root, type } of entries) {
    assert.match(at, /^\//);
    assert.match(device, /^\d+:\d+$/);
    assert.ok(root.length > 0 && type.length > 0);
  }
  assert.ok(entries.some(({ at, type }) => at === "/proc" && type === "proc"));
});

test("a mount with blanks, line ends and backslashes in its path is read by its name", (t) => {
  if (process.getuid?.() !== 0) return;
  const odd = join(scratch(t), "a b\tc\nd\\e#é");
  mkdirSync(odd);
  const script = `
    import { readMounts } from ${JSON.stringify(new URL("mounts.ts", import.meta.url).href)};
    const isThere = readMounts().entries.some(({ at, type }) => at === process.argv[1] && type === "tmpfs");
    process.stdout.write(String(isThere));`;
  // In a namespace of its own, so that no other test sees the mount.
  const line = 'mount -t tmpfs none "$1" || { printf unmountable; exit; }; exec "$0" --input-type=module -e "$2" "$1"';
  const words = ["--mount", "sh", "-c", line, process.execPath, odd, script];
  assert.match(execFileSync("unshare", words, { encoding: "utf8", stdio: "pipe" }), /^(?:true|unmountable)$/);
});

test("a folder is also where another mount shows it, if that leads to the same folder", (t) => {
  const top = folders(t, "data/state", "other");
  symlinkSync(join(top, "data"), join(top, "seen"));
  const mounts = [entry("/", "/", "0:1"), entry(top, "/fs"), entry(join(top, "seen"), "/fs/data")];
  assert.deepEqual(findMountAliases(join(top, "data/state"), mounts), [join(top, "seen/state")]);
  // The same table says that `other` shows it, but something else lies there.
  const hidden = [...mounts.slice(0, 2), entry(join(top, "other"), "/fs/data")];
  assert.deepEqual(findMountAliases(join(top, "data/state"), hidden), []);
});

test("mounts of another file system, or of folders beside it, show nothing of it", (t) => {
  const top = folders(t, "data/state");
  symlinkSync(join(top, "data"), join(top, "seen"));
  const own = entry(top, "/fs");
  for (const other of [
    entry(join(top, "seen"), "/fs/data", "8:2"),
    entry(join(top, "seen"), "/fs/dat"),
    entry(join(top, "seen"), "/fs/data/state/below"),
  ])
    assert.deepEqual(findMountAliases(join(top, "data/state"), [own, other]), [], JSON.stringify(other));
});

test("of mounts on each other the innermost, and of two at one place the last, is the folder's own", (t) => {
  const top = folders(t, "a/b/state");
  symlinkSync(join(top, "a/b"), join(top, "seen"));
  const mounts = [
    entry("/", "/", "0:1"),
    entry(join(top, "a"), "/wrong", "8:9"),
    entry(join(top, "a"), "/", "8:2"),
    entry(join(top, "seen"), "/b", "8:2"),
  ];
  assert.deepEqual(findMountAliases(join(top, "a/b/state"), mounts), [join(top, "seen/state")]);
});

test("a folder that no mount holds, or that is gone, is nowhere else", (t) => {
  const top = folders(t, "a");
  assert.deepEqual(findMountAliases(join(top, "a"), []), []);
  const mounts = [entry(top, "/"), entry(join(top, "b"), "/")];
  rmSync(join(top, "a"), { recursive: true });
  assert.deepEqual(findMountAliases(join(top, "a"), mounts), []);
});
