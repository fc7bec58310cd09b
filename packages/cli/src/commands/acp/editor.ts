import type { JsonObject } from "@vidro/core";

/** What came of a question to an editor: its result, its refusal, or nothing that could be read. */
export type EditorReply =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string };

/** The editor that this process works for. */
export interface Editor {
  /** Shows an update of a session. */
  tell(method: string, params: JsonObject): void;
  /** Asks the editor; an editor that is gone, and a signal that fires, end the wait with silence. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<EditorReply>;
}
