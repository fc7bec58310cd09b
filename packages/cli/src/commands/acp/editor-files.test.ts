import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "@vidro/core";
import { EditorFiles } from "./editor-files.ts";
import type { Editor, EditorReply } from "./editor.ts";

const FOLDER = tmpdir();
const FILE = join(FOLDER, "a.txt");

/** An editor that answers as it is told, and keeps what it was asked. */
class PlayedEditor implements Editor {
  readonly asked: [string, JsonObject][] = [];
  answer: (signal: AbortSignal) => EditorReply | Promise<EditorReply> = () => ({ kind: "result", result: {} });

  tell(): void {}

  async ask(method: string, params: JsonObject, signal: AbortSignal): Promise<EditorReply> {
    this.asked.push([method, params]);
    return this.answer(signal);
  }
}

/** The files of an editor that offers both methods, used by a session. */
function filesOf(editor: Editor, waitMs?: number): EditorFiles {
  const files = new EditorFiles(waitMs);
  files.offer(editor, { fs: { readTextFile: true, writeTextFile: true } });
  files.use("acp_1", FOLDER);
  return files;
}

/** Never answers before it is given up. */
const hang = (signal: AbortSignal): Promise<EditorReply> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve({ kind: "silent", why: "given up" })));

describe("the files of an editor", () => {
  it("are there as far as the editor offers them, for folders that a session is in", () => {
    const rows: readonly [unknown, "none" | "read" | "both"][] = [
      [undefined, "none"],
      [[], "none"],
      [{ fs: true }, "none"],
      [{ fs: { readTextFile: "true", writeTextFile: true } }, "none"],
      [{ fs: { writeTextFile: true } }, "none"],
      [{ fs: { readTextFile: true } }, "read"],
      [{ fs: { readTextFile: true, writeTextFile: 1 } }, "read"],
      [{ fs: { readTextFile: true, writeTextFile: true } }, "both"],
    ];
    for (const [capabilities, offered] of rows) {
      const files = new EditorFiles();
      files.offer(new PlayedEditor(), capabilities as JsonObject);
      assert.equal(files.at(FOLDER), undefined, "no session is in the folder");
      files.use("acp_1", FOLDER);
      const at = files.at(FOLDER);
      assert.equal(at === undefined ? "none" : at.write === undefined ? "read" : "both", offered);
    }
  });

  it("are asked for by the session that worked in the folder last", async () => {
    const editor = new PlayedEditor();
    const files = filesOf(editor);
    const at = files.at(FOLDER);
    editor.answer = () => ({ kind: "result", result: { content: "text" } });
    assert.deepEqual(await at?.read(FILE), { kind: "done", text: "text" });
    files.use("acp_2", FOLDER);
    assert.deepEqual(await at?.write?.(FILE, "more"), { kind: "done", text: "" });
    assert.deepEqual(editor.asked, [
      ["fs/read_text_file", { sessionId: "acp_1", path: FILE }],
      ["fs/write_text_file", { sessionId: "acp_2", path: FILE, content: "more" }],
    ]);
  });

  it("are unread when the answer has no text, and refusals and silence stay what they are", async () => {
    const editor = new PlayedEditor();
    const at = filesOf(editor).at(FOLDER);
    for (const content of [undefined, null, 7, ["x"], { text: "x" }]) {
      editor.answer = () => ({ kind: "result", result: { content } });
      assert.deepEqual(await at?.read(FILE), { kind: "silent", why: "Its answer has no text." });
    }
    for (const kind of ["refused", "silent"] as const) {
      editor.answer = () => ({ kind, why: "because" });
      assert.deepEqual(await at?.read(FILE), { kind, why: "because" });
      assert.deepEqual(await at?.write?.(FILE, "x"), { kind, why: "because" });
    }
  });

  it("are not waited for beyond the bound, nor when the action is stopped", async () => {
    const editor = new PlayedEditor();
    editor.answer = hang;
    const late = { kind: "silent", why: "It did not answer within 0.005 seconds." };
    const at = filesOf(editor, 5).at(FOLDER);
    assert.deepEqual([await at?.read(FILE), await at?.write?.(FILE, "x")], [late, late]);
    const stop = new AbortController();
    const stopped = filesOf(editor).at(FOLDER)?.write?.(FILE, "x", stop.signal);
    stop.abort();
    assert.deepEqual(await stopped, { kind: "silent", why: "given up" });
  });
});
