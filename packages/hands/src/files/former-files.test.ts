import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { contextIn, executionOf, scratch } from "../scratch.fixture.ts";
import { changeFiles, readFormer } from "./change-files.ts";
import type { FileChange } from "./change-files.ts";
import { readContentIfAny, sha256 } from "./files.ts";
import {
  forgetFormerFiles,
  formerFilesOf,
  formerFilesOfRun,
  keepFormerFiles,
  readFormerContent,
} from "./former-files.ts";

/** A hand's folders, with executions of named actions in them. */
function handFolders(t: TestContext) {
  const context = contextIn(scratch(t));
  const planFor = (name: string): FilePlan => ({
    kind: "file",
    operation: "write",
    path: join(context.workspace, name),
    inWorkspace: true,
  });
  const as = (action: string, run = "run_1") => executionOf(context, planFor("x"), { action, run });
  const change = async (name: string, after: string | undefined): Promise<FileChange> => {
    const plan = planFor(name);
    const before = await readFormer(plan, { context });
    return {
      plan,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after: Buffer.from(after) }),
    };
  };
  const path = (name: string): string => join(context.workspace, name);
  const undo = join(context.state, "undo");
  return { context, as, change, path, undo };
}

describe("former content of files", () => {
  it("is kept under its hash before a file is changed, readable by this user only", async (t) => {
    const { context, as, path, change, undo } = handFolders(t);
    writeFileSync(path("a"), "old");
    await changeFiles([await change("a", "new"), await change("b", "fresh")], as("act_1"));
    const { files, run } = await formerFilesOf(context.state, "act_1");
    assert.equal(run, "run_1");
    assert.deepEqual(files, [
      { path: path("a"), before: sha256("old"), after: sha256("new"), kept: true },
      { path: path("b"), after: sha256("fresh"), kept: true },
    ]);
    const [first, second] = files;
    assert.equal(String(await readFormerContent(context.state, "act_1", first!)), "old");
    assert.equal(await readFormerContent(context.state, "act_1", second!), undefined);
    const [folder = ""] = readdirSync(undo);
    assert.equal(statSync(join(undo, folder)).mode & 0o777, 0o700);
    for (const name of readdirSync(join(undo, folder)))
      assert.equal(statSync(join(undo, folder, name)).mode & 0o777, 0o600);
  });

  it("of an action that begins again is what was there first", async (t) => {
    const { context, as, path, change } = handFolders(t);
    writeFileSync(path("a"), "old");
    await changeFiles([await change("a", "new")], as("act_1"));
    await changeFiles([await change("a", "newer")], as("act_1"));
    const { files } = await formerFilesOf(context.state, "act_1");
    assert.equal(files[0]?.before, sha256("old"));
  });

  it("is refused when it is not what it was, or is gone", async (t) => {
    const { context, as, path, change, undo } = handFolders(t);
    writeFileSync(path("a"), "old");
    await changeFiles([await change("a", "new")], as("act_1"));
    const [file] = (await formerFilesOf(context.state, "act_1")).files;
    const [folder = ""] = readdirSync(undo);
    const kept = join(undo, folder, sha256("old"));
    writeFileSync(kept, "forged");
    await assert.rejects(readFormerContent(context.state, "act_1", file!), { code: "NOT_FOUND" });
    rmSync(kept);
    await assert.rejects(readFormerContent(context.state, "act_1", file!), { code: "NOT_FOUND" });
  });

  it("names no folder by the id of an action, whatever a brain sends as one", async (t) => {
    const { context, as, path, change, undo } = handFolders(t);
    for (const id of ["../../escape", "/etc/x", "", "a\0b", "x".repeat(10_000)]) {
      await changeFiles([await change("a", `for ${id.length}`)], as(id));
      assert.equal((await formerFilesOf(context.state, id)).action, id);
    }
    assert.equal(existsSync(join(context.state, "..", "escape")), false);
    for (const name of readdirSync(undo)) assert.match(name, /^[0-9a-f]{40}$/);
    assert.equal(readFileSync(path("a"), "utf8"), "for 10000");
  });

  it("of a run is listed with the last change first", async (t) => {
    const { context, as, change } = handFolders(t);
    await changeFiles([await change("a", "1")], as("act_1"));
    await changeFiles([await change("a", "2")], as("act_2"));
    await changeFiles([await change("a", "3")], as("act_3", "run_2"));
    const actions = (await formerFilesOfRun(context.state, "run_1")).map(({ action }) => action);
    assert.deepEqual(actions, ["act_2", "act_1"]);
    await assert.rejects(formerFilesOfRun(context.state, "run_3"), { code: "NOT_FOUND", message: /run_3/ });
    await assert.rejects(formerFilesOf(context.state, "act_9"), { code: "NOT_FOUND", message: /act_9/ });
  });

  it("is forgotten after its time, and the oldest when there is too much, but never the newest", async (t) => {
    const { context, as, change, undo } = handFolders(t);
    const keep = async (action: string): Promise<void> => changeFiles([await change("a", action)], as(action));
    await keep("act_old");
    const [old = ""] = readdirSync(undo);
    const longAgo = (Date.now() - HAND_LIMITS.undoMs - 1000) / 1000;
    utimesSync(join(undo, old), longAgo, longAgo);
    await keep("act_new");
    await assert.rejects(formerFilesOf(context.state, "act_old"), { code: "NOT_FOUND" });
    // A sparse file counts with its size.
    const [current = ""] = readdirSync(undo);
    const large = join(undo, current, "large");
    writeFileSync(large, "");
    truncateSync(large, HAND_LIMITS.undoBytes + 1);
    await keep("act_newest");
    await assert.rejects(formerFilesOf(context.state, "act_new"), { code: "NOT_FOUND" });
    assert.equal((await formerFilesOf(context.state, "act_newest")).action, "act_newest");
  });

  it("is forgotten when nothing was changed", async (t) => {
    const { context, as } = handFolders(t);
    await keepFormerFiles([{ path: "/x", before: sha256("a"), content: Buffer.from("a") }], as("act_1"));
    await forgetFormerFiles(as("act_1"));
    await assert.rejects(formerFilesOf(context.state, "act_1"), { code: "NOT_FOUND" });
  });
});

describe("a change of several files", () => {
  it("changes nothing and keeps nothing when there is nothing to change", async (t) => {
    const { as, undo } = handFolders(t);
    await changeFiles([], as("act_1"));
    assert.equal(existsSync(undo), false);
  });

  it("puts back those that were changed when a later one was changed by another process meanwhile", async (t) => {
    const { context, as, path, change } = handFolders(t);
    for (const name of ["a", "b", "gone"]) writeFileSync(path(name), `old ${name}`);
    const changes = [
      await change("a", "new"),
      await change("gone", undefined),
      await change("n", "n"),
      await change("b", "new"),
    ];
    writeFileSync(path("b"), "changed meanwhile");
    await assert.rejects(changeFiles(changes, as("act_1")), { code: "CONFLICT" });
    assert.equal(readFileSync(path("a"), "utf8"), "old a");
    assert.equal(readFileSync(path("gone"), "utf8"), "old gone");
    assert.equal(existsSync(path("n")), false);
    assert.equal(readFileSync(path("b"), "utf8"), "changed meanwhile");
    await assert.rejects(formerFilesOf(context.state, "act_1"), { code: "NOT_FOUND" });
  });

  it("names the files that could not be put back", async (t) => {
    const { as, path, change, context } = handFolders(t);
    mkdirSync(path("big"));
    writeFileSync(path("big/file"), "");
    truncateSync(path("big/file"), HAND_LIMITS.fileBytes + 1);
    writeFileSync(path("b"), "old");
    const unread = await change("big/file", "small");
    assert.equal(unread.before, "unread");
    const conflict = await change("b", "new");
    writeFileSync(path("b"), "changed meanwhile");
    await assert.rejects(changeFiles([unread, conflict], as("act_1")), (thrown: { code: string; message: string }) => {
      assert.equal(thrown.code, "TOOL_FAILED");
      assert.ok(thrown.message.includes(`could not be put back: ${path("big/file")}.`), thrown.message);
      return true;
    });
    assert.equal(readFileSync(path("big/file"), "utf8"), "small");
    const [kept] = (await formerFilesOf(context.state, "act_1")).files;
    assert.equal(kept?.kept, false);
  });

  it("replaces a file that is there only when it is the one that was read", async (t) => {
    const { as, path, change } = handFolders(t);
    const making = await change("a", "mine");
    writeFileSync(path("a"), "the text of another program");
    await assert.rejects(changeFiles([making], as("act_1")), { code: "CONFLICT" });
    assert.equal(String((await readContentIfAny(path("a")))?.bytes), "the text of another program");
  });
});
