import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { HAND_LIMITS } from "@vidro/core";
import { contextIn, executionOf, policyOf, scratch } from "../scratch.fixture.ts";
import { Folder } from "./files.ts";
import { holdFolder } from "./held-folder.ts";
import { isWithin } from "./is-within.ts";
import { findMountAliases, readMounts } from "./mounts.ts";
import { closeFileToOthers, makeOwnFolder } from "./own-files.ts";
import { resolveFolder, resolveWorkspace } from "./resolve-folder.ts";
import { FolderWalk, omissionNote } from "./walk.ts";

describe("lying within a folder", () => {
  it("compares whole names, not beginnings of names", () => {
    const cases: readonly (readonly [string, string, boolean])[] = [
      ["/a/b", "/a/b", true],
      ["/a/b", "/a/b/c", true],
      ["/a/b", "/a/bc", false],
      ["/a/b", "/a", false],
      ["/a/b", "/", false],
      ["/", "/a", true],
      ["/", "/", true],
      ["/a/b", "/a/b/../c", false],
      ["/a/b", "/a/b/./c", true],
      ["/a/b", "/a/b//c", true],
      ["/a/b/", "/a/b/c", true],
      ["/a/b", "/a/b/..c", true],
    ];
    for (const [folder, path, expected] of cases) assert.equal(isWithin(folder, path), expected, `${folder} ${path}`);
  });

  it("agrees with a comparison of lists of names, for any two paths", () => {
    const names = fc.array(fc.constantFrom("a", "b", "ab", "..x", "a b"), { maxLength: 4 });
    fc.assert(
      fc.property(names, names, (folder, path) => {
        const expected = folder.every((name, index) => path[index] === name);
        assert.equal(isWithin(`/${folder.join("/")}`, `/${path.join("/")}`), expected);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a folder that is held", () => {
  it("is itself after it was renamed, and its entries are found", (t) => {
    const root = scratch(t);
    mkdirSync(join(root, "a"));
    writeFileSync(join(root, "a", "file"), "x");
    const held = holdFolder(join(root, "a"));
    const { ino } = statSync(held.entry("file"));
    renameSync(join(root, "a"), join(root, "b"));
    mkdirSync(join(root, "a"));
    assert.equal(held.path, join(root, "b"));
    assert.equal(statSync(held.entry("file")).ino, ino);
  });

  it("has its last name when it was removed", (t) => {
    const root = scratch(t);
    mkdirSync(join(root, "a"));
    const held = holdFolder(join(root, "a"));
    renameSync(join(root, "a"), join(root, "b"));
    assert.equal(held.path, join(root, "b"));
    rmSync(join(root, "b"), { recursive: true });
    assert.equal(held.path, join(root, "b"));
  });

  it("is held once, by whatever path it was reached", (t) => {
    const root = scratch(t);
    mkdirSync(join(root, "a"));
    symlinkSync(join(root, "a"), join(root, "link"));
    assert.equal(holdFolder(join(root, "a")), holdFolder(join(root, "link")));
  });
});

describe("folders and files of Vidro's own", () => {
  it("are closed to others, also those that were open before", (t) => {
    const root = scratch(t);
    const deep = join(root, "a", "b");
    assert.equal(makeOwnFolder(deep), deep);
    assert.equal(statSync(deep).mode & 0o777, 0o700);
    mkdirSync(join(root, "open"), { mode: 0o755 });
    chmodSync(join(root, "open"), 0o755);
    makeOwnFolder(join(root, "open"));
    assert.equal(statSync(join(root, "open")).mode & 0o777, 0o700);
    writeFileSync(join(root, "db"), "content", { mode: 0o644 });
    closeFileToOthers(join(root, "db"));
    assert.equal(statSync(join(root, "db")).mode & 0o777, 0o600);
    assert.equal(statSync(join(root, "db")).size, 7);
    closeFileToOthers(join(root, "new"));
    assert.equal(statSync(join(root, "new")).mode & 0o777, 0o600);
  });
});

describe("the folder of a workspace", () => {
  it("is real and absolute, from wherever it is named", (t) => {
    const root = scratch(t);
    mkdirSync(join(root, "a"));
    symlinkSync("a", join(root, "link"));
    assert.equal(resolveFolder("link", root), join(root, "a"));
    assert.equal(resolveFolder("a/../a/.", root), join(root, "a"));
    assert.equal(resolveWorkspace(join(root, "link")), join(root, "a"));
  });

  it("is refused by its name when it is none, a file, or no path", (t) => {
    const root = scratch(t);
    writeFileSync(join(root, "file"), "");
    assert.throws(() => resolveFolder("missing", root), { code: "BAD_ARGUMENTS", message: /no folder missing/ });
    assert.throws(() => resolveFolder("file", root), { code: "BAD_ARGUMENTS", message: "file is not a folder." });
    assert.throws(() => resolveFolder("a\0b", root), { code: "BAD_ARGUMENTS", message: /NUL/ });
    assert.throws(() => resolveWorkspace(join(root, "missing")), {
      code: "NOT_FOUND",
      message: /start a run in another/,
    });
  });
});

describe("mounts", () => {
  it("of this process are read, with the root among them", () => {
    const { entries } = readMounts();
    assert.ok(entries.some(({ at }) => at === "/"));
    for (const { device } of entries) assert.match(device, /^\d+:\d+$/);
  });

  it("show a folder at other places only where those lead to the same folder", (t) => {
    const root = scratch(t);
    mkdirSync(join(root, "data", "inner"), { recursive: true });
    symlinkSync(join(root, "data"), join(root, "alias"));
    const mount = (at: string, inside: string) => ({ at, root: inside, device: "8:1", type: "ext4" });
    const mounts = [mount(root, "/"), mount(join(root, "alias"), "/data"), mount(join(root, "nowhere"), "/data")];
    assert.deepEqual(findMountAliases(join(root, "data", "inner"), mounts), [join(root, "alias", "inner")]);
    const other = { at: join(root, "alias"), root: "/data", device: "8:2", type: "ext4" };
    assert.deepEqual(findMountAliases(join(root, "data", "inner"), [mount(root, "/"), other]), []);
    assert.deepEqual(findMountAliases("/x", []), []);
  });
});

describe("a walk through folders", () => {
  const walkIn = async (folder: string, walk: FolderWalk): Promise<string[]> => {
    const paths: string[] = [];
    await using open = await Folder.open(folder);
    await walk.visit(open, ({ path }) => paths.push(path) > 0);
    return paths;
  };
  const filled = (t: Parameters<typeof scratch>[0]) => {
    const context = contextIn(scratch(t));
    for (const name of ["b/2", "a/1", "a/deep/3", "c", ".hidden"]) {
      mkdirSync(join(context.workspace, name, ".."), { recursive: true });
      writeFileSync(join(context.workspace, name), "");
    }
    const plan = { kind: "file", operation: "read", path: context.workspace, inWorkspace: true } as const;
    return { context, plan };
  };

  it("goes depth first in the order of names, and follows no link", async (t) => {
    const { context, plan } = filled(t);
    symlinkSync("/etc", join(context.workspace, "link"));
    const walk = new FolderWalk(executionOf(context, plan), () => true);
    assert.deepEqual(await walkIn(context.workspace, walk), [".hidden", "a/1", "a/deep/3", "b/2", "c", "link"]);
    assert.equal(omissionNote(walk.leftOut), "");
  });

  it("enters only folders that it is told to", async (t) => {
    const { context, plan } = filled(t);
    const walk = new FolderWalk(executionOf(context, plan), (path, name) => name !== "deep" && path !== "b");
    assert.deepEqual(await walkIn(context.workspace, walk), [".hidden", "a/1", "c"]);
  });

  it("leaves out what policy keeps, and says so", async (t) => {
    const { context, plan } = filled(t);
    const judge: typeof context.judge = (one) =>
      policyOf(one.kind === "file" && one.path.endsWith("/c") ? "deny" : "allow").judge(one);
    const walk = new FolderWalk(executionOf({ ...context, judge }, plan), () => true);
    assert.equal((await walkIn(context.workspace, walk)).includes("c"), false);
    assert.equal(omissionNote(walk.leftOut), "\n[not everything was seen: what policy keeps from the model]");
  });

  it("sees what is asked about only when a person approved the walk", async (t) => {
    const { context, plan } = filled(t);
    const judge =
      (all: boolean): typeof context.judge =>
      (one) =>
        policyOf(all || (one.kind === "file" && one.path.endsWith("/c")) ? "ask" : "allow").judge(one);
    const unasked = new FolderWalk(executionOf({ ...context, judge: judge(false) }, plan), () => true);
    assert.equal((await walkIn(context.workspace, unasked)).includes("c"), false);
    const approved = new FolderWalk(executionOf({ ...context, judge: judge(true) }, plan), () => true);
    assert.equal((await walkIn(context.workspace, approved)).includes("c"), true);
  });

  it("ends with a fault when it is stopped", async (t) => {
    const { context, plan } = filled(t);
    const walk = new FolderWalk(executionOf(context, plan, { signal: AbortSignal.abort() }), () => true);
    await assert.rejects(walkIn(context.workspace, walk), { code: "TOOL_FAILED", message: /was stopped/ });
  });

  it("lets other work go on, which can stop it", async (t) => {
    const { context, plan } = filled(t);
    const stop = new AbortController();
    const judge: typeof context.judge = (one) => {
      setImmediate(() => stop.abort());
      for (const from = performance.now(); performance.now() - from <= HAND_LIMITS.walkMs;);
      return context.judge(one);
    };
    const walk = new FolderWalk(executionOf({ ...context, judge }, plan, { signal: stop.signal }), () => true);
    await assert.rejects(walkIn(context.workspace, walk), { code: "TOOL_FAILED", message: /was stopped/ });
  });

  it("never enters the hand's own state", async (t) => {
    const { context, plan } = filled(t);
    const state = join(context.workspace, "state");
    mkdirSync(state);
    writeFileSync(join(state, "key"), "");
    const walk = new FolderWalk(executionOf({ ...context, state, reserved: () => [state] }, plan), () => true);
    assert.equal(
      (await walkIn(context.workspace, walk)).some((path) => path.startsWith("state")),
      false,
    );
  });

  it("names at most five reasons, and counts the others", () => {
    const note = omissionNote(new Set(Array.from({ length: 8 }, (_, index) => `reason ${index}`)));
    assert.match(note, /reason 4; and 3 more\]$/);
  });
});
