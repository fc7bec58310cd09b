import assert from "node:assert/strict";
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import type { ActionEnd, JsonObject } from "@vidro/core";
import { endOf, handIn, orderFor, policyOf, scratch } from "../scratch.fixture.ts";
import type { EditorAnswer, FileEditor } from "./planned-files.ts";

/** An editor with open buffers; a path that is in none of them is refused. */
class PlayedEditor implements FileEditor {
  readonly buffers = new Map<string, string>();
  readonly asked: string[] = [];
  /** What is answered in the place of writing. */
  onWrite: ((path: string, text: string) => EditorAnswer | Promise<EditorAnswer>) | undefined;
  /** What is answered in the place of reading. */
  onRead: ((path: string) => EditorAnswer) | undefined;

  async read(path: string): Promise<EditorAnswer> {
    this.asked.push(`read ${path}`);
    if (this.onRead !== undefined) return this.onRead(path);
    const text = this.buffers.get(path);
    return text === undefined ? { kind: "refused", why: "No such buffer." } : { kind: "done", text };
  }

  async write(path: string, text: string): Promise<EditorAnswer> {
    this.asked.push(`write ${path}`);
    if (this.onWrite !== undefined) return this.onWrite(path, text);
    this.buffers.set(path, text);
    return { kind: "done", text: "" };
  }
}

/** A hand whose workspace an editor has open, with one saved file whose buffer was changed since. */
async function editedHand(t: TestContext, more: Parameters<typeof handIn>[2] = {}) {
  const folder = scratch(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const editor = new PlayedEditor();
  const hand = await handIn(t, folder, { editor, ...more });
  const at = (name: string): string => join(workspace, name);
  writeFileSync(at("a.txt"), "saved\n");
  editor.buffers.set(at("a.txt"), "unsaved\n");
  let last = 0;
  const use = (tool: string, input: JsonObject, id = `act_${(last += 1)}`): Promise<ActionEnd> =>
    endOf(hand, orderFor({ id, tool, input, callId: "call" }));
  return { folder, editor, at, use };
}

/** The text of an end that is finished; else its fault. */
function words(end: ActionEnd): string {
  if (end.type !== "finished") return `${end.type} ${end.fault.code}: ${end.fault.message}`;
  return end.outcome.kind === "value" ? end.outcome.text : "";
}

const EDIT = { file_path: "a.txt", old_string: "unsaved", new_string: "edited" };

describe("files of a workspace that an editor has open", () => {
  it("are read as the editor has them, with the hash of that text", async (t) => {
    const { use, at, editor } = await editedHand(t);
    assert.equal(words(await use("read_file", { file_path: "a.txt" })), "unsaved");
    const diff = await use("file_diff", { path: "a.txt", want: "wanted\n" });
    assert.match(words(diff), /-unsaved\n\+wanted/);
    editor.buffers.set(at("new.txt"), "only a buffer\n");
    assert.equal(words(await use("read_file", { file_path: "new.txt" })), "only a buffer");
  });

  it("are written in the editor and not on disk", async (t) => {
    const { use, at, editor } = await editedHand(t);
    assert.match(words(await use("edit", EDIT)), /Replaced 1 place/);
    assert.equal(editor.buffers.get(at("a.txt")), "edited\n");
    assert.equal(readFileSync(at("a.txt"), "utf8"), "saved\n");
    await use("write_file", { file_path: "deep/er/b.txt", content: "fresh" });
    assert.equal(editor.buffers.get(at("deep/er/b.txt")), "fresh");
    assert.ok(existsSync(at("deep/er")), "the editor finds the folder");
    assert.ok(!existsSync(at("deep/er/b.txt")));
  });

  it("are undone in the editor, to the text that was not saved", async (t) => {
    const { use, at, editor } = await editedHand(t);
    await use("edit", EDIT, "act_edit");
    assert.match(words(await use("undo", { action: "act_edit" })), /Put back a\.txt/);
    assert.equal(editor.buffers.get(at("a.txt")), "unsaved\n");
    await use("edit", EDIT, "act_again");
    editor.buffers.set(at("a.txt"), "typed over\n");
    assert.match(words(await use("undo", { action: "act_again" })), /failed CONFLICT/);
    assert.equal(editor.buffers.get(at("a.txt")), "typed over\n");
  });

  it("keep their bases: a patch for the saved text does not fit the text in the editor", async (t) => {
    const { use, at, editor } = await editedHand(t);
    const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-saved\n+patched\n";
    assert.match(words(await use("file_apply", { path: "a.txt", patch })), /^failed/);
    assert.equal(editor.buffers.get(at("a.txt")), "unsaved\n");
    const fitting = patch.replace("-saved", "-unsaved");
    assert.match(words(await use("file_apply", { path: "a.txt", patch: fitting })), /Applied/);
    assert.match(words(await use("file_apply", { path: "a.txt", patch: fitting })), /already has this change/);
    assert.equal(editor.asked.filter((one) => one.startsWith("write")).length, 1);
  });

  it("that a person types into between reading and writing are a conflict", async (t) => {
    const { use, at, editor } = await editedHand(t);
    let reads = 0;
    editor.onRead = () => ({ kind: "done", text: (reads += 1) === 1 ? "unsaved\n" : "unsaved and more\n" });
    assert.match(words(await use("edit", EDIT)), /failed CONFLICT.*changed in the editor/);
    assert.equal(editor.buffers.get(at("a.txt")), "unsaved\n");
    assert.ok(!editor.asked.some((one) => one.startsWith("write")));
  });

  it("outside of the workspace, hard links of it, and what is no text stay with the disk", async (t) => {
    const { folder, use, at, editor } = await editedHand(t);
    const outside = join(folder, "outside.txt");
    writeFileSync(outside, "outside");
    linkSync(outside, at("linked.txt"));
    symlinkSync(outside, at("symlink.txt"));
    writeFileSync(at("raw.bin"), Buffer.of(0xff, 0, 1));
    for (const name of [outside, "linked.txt", "symlink.txt"])
      assert.equal(words(await use("read_file", { file_path: name })), "outside");
    assert.match(words(await use("read_file", { file_path: "raw.bin" })), /not UTF-8 text/);
    await use("write_file", { file_path: outside, content: "written" });
    assert.equal(readFileSync(outside, "utf8"), "written");
    assert.deepEqual(editor.asked, []);
  });

  it("that may not be written on disk are not written in the editor", async (t) => {
    const { use, at, editor } = await editedHand(t);
    chmodSync(at("a.txt"), 0o444);
    assert.match(words(await use("edit", EDIT)), /read-only/);
    mkdirSync(at("folder"));
    assert.match(words(await use("write_file", { file_path: "folder", content: "x" })), /is a folder/);
    assert.ok(!editor.asked.some((one) => one.startsWith("write")));
  });

  it("are bounded as those on disk", async (t) => {
    const { use, at, editor } = await editedHand(t);
    editor.buffers.set(at("a.txt"), "x".repeat(HAND_LIMITS.fileBytes + 1));
    assert.match(words(await use("read_file", { file_path: "a.txt" })), /failed PAYLOAD_TOO_LARGE/);
    editor.buffers.set(at("a.txt"), "o".repeat(HAND_LIMITS.fileBytes));
    const grown = { file_path: "a.txt", old_string: "o", new_string: "oo", replace_all: true };
    assert.match(words(await use("edit", grown)), /failed PAYLOAD_TOO_LARGE/);
    assert.ok(!editor.asked.some((one) => one.startsWith("write")));
  });

  it("are written on disk beside an editor that only lets them be read, unless it has changes that are not saved", async (t) => {
    const played = new PlayedEditor();
    const editor = { read: (path: string) => played.read(path) };
    const { use, at } = await editedHand(t, { editor });
    played.buffers.set(at("a.txt"), "unsaved\n");
    assert.match(words(await use("edit", EDIT)), /failed CONFLICT.*not saved/);
    assert.match(words(await use("write_file", { file_path: "a.txt", content: "x" })), /failed CONFLICT/);
    assert.equal(readFileSync(at("a.txt"), "utf8"), "saved\n");
    played.buffers.set(at("a.txt"), "saved\n");
    assert.match(words(await use("edit", { ...EDIT, old_string: "saved" })), /Replaced 1 place/);
    assert.equal(readFileSync(at("a.txt"), "utf8"), "edited\n");
    assert.match(words(await use("write_file", { file_path: "new.txt", content: "fresh" })), /Wrote 5 bytes/);
    assert.equal(readFileSync(at("new.txt"), "utf8"), "fresh");
  });

  it("are judged by policy and approved as those on disk", async (t) => {
    const denied = await editedHand(t, { policy: policyOf("deny") });
    assert.match(words(await denied.use("edit", EDIT)), /POLICY_DENIED/);
    assert.match(words(await denied.use("read_file", { file_path: "a.txt" })), /POLICY_DENIED/);
    const asking = await editedHand(t, { policy: policyOf("ask") });
    assert.match(words(await asking.use("edit", EDIT)), /^failed APPROVAL/);
    assert.deepEqual([...denied.editor.asked, ...asking.editor.asked], []);
  });
});

describe("an editor that does not do what it is asked", () => {
  it("fails a read of a saved file by name, and does not give the saved text in its place", async (t) => {
    const { use, editor } = await editedHand(t);
    for (const kind of ["refused", "silent"] as const) {
      editor.onRead = () => ({ kind, why: "The buffer is locked." });
      assert.match(words(await use("read_file", { file_path: "a.txt" })), /failed TOOL_FAILED.*The buffer is locked/);
    }
    editor.onRead = () => ({ kind: "refused", why: "No." });
    assert.match(words(await use("read_file", { file_path: "nowhere" })), /There is no .*nowhere/);
  });

  it("has no text replaced that it does not give", async (t) => {
    const { use, editor } = await editedHand(t);
    editor.onRead = () => ({ kind: "silent", why: "The editor is gone." });
    for (const file_path of ["a.txt", "new.txt"])
      assert.match(words(await use("write_file", { file_path, content: "x" })), /failed TOOL_FAILED.*is gone/);
    assert.ok(!editor.asked.some((one) => one.startsWith("write")));
  });

  it("fails a write that it refused and that changed nothing", async (t) => {
    const { use, at, editor } = await editedHand(t);
    editor.onWrite = () => ({ kind: "refused", why: "The person said no." });
    assert.match(words(await use("edit", EDIT, "act_edit")), /failed TOOL_FAILED.*The person said no/);
    assert.equal(editor.buffers.get(at("a.txt")), "unsaved\n");
    assert.match(words(await use("undo", { action: "act_edit" })), /NOT_FOUND/, "nothing is kept to undo");
  });

  it("has written when the text is there, whatever it said", async (t) => {
    const { use, at, editor } = await editedHand(t);
    editor.onWrite = (path, text) => (editor.buffers.set(path, text), { kind: "refused", why: "Saving failed." });
    assert.match(words(await use("edit", EDIT)), /Replaced 1 place/);
    assert.equal(editor.buffers.get(at("a.txt")), "edited\n");
  });

  it("leaves an outcome unknown when it is silent or left another text, and the order is not carried out again", async (t) => {
    const silent = (): EditorAnswer => ({ kind: "silent", why: "The editor is gone." });
    const half = (editor: PlayedEditor) => (path: string, text: string) => {
      editor.buffers.set(path, text.slice(0, 3));
      return { kind: "refused", why: "Half of it." } as const;
    };
    for (const played of [() => silent, half]) {
      const { use, editor } = await editedHand(t);
      editor.onWrite = played(editor);
      assert.match(words(await use("edit", EDIT, "act_edit")), /unknown OUTCOME_UNKNOWN.*may have written/);
      editor.onWrite = undefined;
      assert.match(words(await use("edit", EDIT, "act_edit")), /unknown OUTCOME_UNKNOWN/);
      assert.equal(editor.asked.filter((one) => one.startsWith("write")).length, 1);
    }
  });

  it("leaves what the file held for an undo when its write is unknown", async (t) => {
    const { use, at, editor } = await editedHand(t);
    editor.onWrite = (path, text) => (editor.buffers.set(path, text), { kind: "silent", why: "It hangs." });
    assert.match(words(await use("edit", EDIT, "act_edit")), /OUTCOME_UNKNOWN/);
    editor.onWrite = undefined;
    assert.match(words(await use("undo", { action: "act_edit" })), /Put back/);
    assert.equal(editor.buffers.get(at("a.txt")), "unsaved\n");
  });

  it("is not asked again through another hand on the same ledger while it writes", async (t) => {
    const { folder, editor, use } = await editedHand(t);
    const [writing, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<EditorAnswer>()];
    editor.onWrite = () => (writing.resolve(), answer.promise);
    const first = use("edit", EDIT, "act_edit");
    await writing.promise;
    const other = await handIn(t, folder, { editor });
    const again = await endOf(other, orderFor({ id: "act_edit", tool: "edit", input: EDIT, callId: "call" }));
    assert.match(words(again), /OUTCOME_UNKNOWN/);
    answer.resolve({ kind: "silent", why: "The editor is gone." });
    assert.match(words(await first), /OUTCOME_UNKNOWN/);
    assert.equal(editor.asked.filter((one) => one.startsWith("write")).length, 1);
  });

  it("undoes the part of a patch that it did before it refused the rest", async (t) => {
    const { use, at, editor } = await editedHand(t);
    writeFileSync(at("b.txt"), "b\n");
    editor.buffers.set(at("b.txt"), "b\n");
    editor.onWrite = (path, text) => {
      if (path === at("b.txt")) return { kind: "refused", why: "Not this one." };
      editor.buffers.set(path, text);
      return { kind: "done", text: "" };
    };
    const part = (name: string, from: string, to: string) =>
      `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
    const patch = part("a.txt", "unsaved", "patched") + part("b.txt", "b", "c");
    assert.match(words(await use("apply_patch", { patch })), /failed TOOL_FAILED.*Not this one/);
    assert.equal(editor.buffers.get(at("a.txt")), "unsaved\n");
  });
});
