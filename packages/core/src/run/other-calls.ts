import type { Turn } from "../event.ts";
import type { ReplyParts } from "../reply-parts.ts";
import type { Action } from "../tool.ts";

/** Vendors want a result for each call of a reply, also for those beyond the first, which are not run. */
export function answersOfOtherCalls(parts: ReplyParts | undefined, called: Action | undefined): readonly Turn[] {
  const calls = parts?.items.filter((part) => part.kind === "call") ?? [];
  return calls
    .filter(({ callId }) => callId !== called?.callId)
    .map(({ callId, tool }) => ({ role: "tool", callId, tool, text: NOT_RUN, failed: true }));
}

const NOT_RUN = "Not run: one action at a time. Call it again if it is still needed.";
