import { createHash } from "node:crypto";
import { canonicalJson } from "@vidro/core";
import type { Json } from "@vidro/core";
import type { StartRequest } from "../../run/runs.ts";
import type { SentConversation } from "./request.ts";

/** What a run is started with, and the thread that it goes on in where the client keeps the conversation. */
type AnswerSetting = Omit<StartRequest, "task" | "history"> & { readonly continues?: string };

/**
 * What the run of a request has alone while it is open. A stored conversation has one open run at a time. Where the
 * client keeps the conversation, the same request again belongs to the run that it began: clients of this wire repeat a
 * request when its answer is late or its connection is cut, without a key, and a second run would do the work a second
 * time. The store holds it, so that it is true of requests at the same moment, at several brains, too.
 */
export function soleOf(setting: AnswerSetting, asked: SentConversation): { readonly sole?: string } {
  const { thread, key } = setting;
  if (thread !== undefined) return { sole: `thread:${thread}` };
  return key === undefined ? { sole: `request:${fingerprint(setting, asked)}` } : {};
}

/** A hash of all that a client says who wants the same answer, and nothing else of its request. */
function fingerprint(setting: AnswerSetting, { task, files, earlier, returned }: SentConversation): string {
  const { agent, tools, callerTools, choice, sampling, hand, continues } = setting;
  const who = [agent?.name, agent?.prompt, agent?.model, tools, callerTools, choice, sampling, hand, continues];
  const said = [task.trim(), files, returned?.conversation ?? earlier];
  return createHash("sha256")
    .update(canonicalJson([who, said] as unknown as Json))
    .digest("base64url");
}
