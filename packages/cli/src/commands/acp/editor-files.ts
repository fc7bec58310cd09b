import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { ACP_LIMITS, isObject } from "@vidro/core";
import type { Json } from "@vidro/core";
import type { EditorAnswer, FileEditor } from "@vidro/hands";
import type { Editor, EditorReply } from "./editor.ts";

/**
 * The files of an editor's sessions, by the methods `fs/read_text_file` and `fs/write_text_file` of the protocol, as far
 * as the editor offers them. An editor that offers only to write is not used: what a write would replace is not known.
 */
export class EditorFiles {
  /** The session of a folder that a prompt came for last: requests to the editor name one. */
  readonly #sessions = new Map<string, string>();
  readonly #waitMs: number;
  #editor: Editor | undefined;
  #isWritten = false;

  constructor(waitMs: number = ACP_LIMITS.fileMs) {
    this.#waitMs = waitMs;
  }

  /** Notes what an editor offers, as its `clientCapabilities` say. */
  offer(editor: Editor, capabilities: Json | undefined): void {
    const { fs } = isObject(capabilities) ? capabilities : {};
    const { readTextFile, writeTextFile } = isObject(fs) ? fs : {};
    this.#editor = readTextFile === true ? editor : undefined;
    this.#isWritten = writeTextFile === true;
  }

  /** Notes that a session works in a folder. */
  use(sessionId: string, folder: string): void {
    this.#sessions.set(folder, sessionId);
  }

  /** The editor of a folder's files; undefined when no session is in that folder, or the editor offers no files. */
  readonly at = (folder: string): FileEditor | undefined => {
    const editor = this.#editor;
    if (editor === undefined || !this.#sessions.has(folder)) return undefined;
    const root = realpathSync(folder);
    const ask = async (method: string, { path, ...more }: AskedFile, signal?: AbortSignal): Promise<EditorReply> => {
      // The editor knows the folder by the path that it gave, which may lead over a link.
      const params = { sessionId: this.#sessions.get(folder) ?? "", path: join(folder, relative(root, path)), ...more };
      const late = AbortSignal.timeout(this.#waitMs);
      const reply = await editor.ask(method, params, signal === undefined ? late : AbortSignal.any([signal, late]));
      const isLate = reply.kind === "silent" && late.aborted && signal?.aborted !== true;
      return isLate ? { kind: "silent", why: `It did not answer within ${this.#waitMs / 1000} seconds.` } : reply;
    };
    const read: FileEditor["read"] = async (path, signal) => textOf(await ask("fs/read_text_file", { path }, signal));
    if (!this.#isWritten) return { read };
    const write: FileEditor["write"] = async (path, content, signal) => {
      const reply = await ask("fs/write_text_file", { path, content }, signal);
      return reply.kind === "result" ? { kind: "done", text: "" } : reply;
    };
    return { read, write };
  };
}

/** A file that an editor is asked for, or the text that it is to take. */
interface AskedFile {
  readonly path: string;
  readonly content?: string;
}

function textOf(reply: EditorReply): EditorAnswer {
  if (reply.kind !== "result") return reply;
  const { content } = reply.result;
  if (typeof content === "string") return { kind: "done", text: content };
  return { kind: "silent", why: "Its answer has no text." };
}
