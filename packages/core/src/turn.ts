import type { FilePart } from "./file-part.ts";
import type { ReplyParts } from "./reply-parts.ts";
import type { Action } from "./tool.ts";

/** One turn of the conversation that a model sees. */
export type Turn =
  | {
      readonly role: "user";
      readonly text: string;
      /** Files that the person attached. */
      readonly files?: readonly FilePart[];
      /** A remark to a run that works, and not a task. */
      readonly isRemark?: true;
    }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly action?: Action;
      readonly parts?: ReplyParts;
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly failed: boolean;
      /** Files that the tool gave. */
      readonly files?: readonly FilePart[];
    };
