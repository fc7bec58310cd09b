import { CLIENT_LIMITS, isTerminal } from "@vidro/core";
import { readRunStreamItem } from "./run-stream-item.ts";
import type { RunStreamItem } from "./run-stream-item.ts";
import type { BrainConnection } from "./brain-connection.ts";
import { Retries } from "./retries.ts";
import { VidroError } from "./vidro-error.ts";

/** From where a run is item, and until when. */
export interface FollowOptions {
  /** The last `seq` that the follower has; 0, or nothing, for all of it. */
  readonly after?: number;
  /** False leaves out what is only live. */
  readonly live?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Every entry after `after`, each exactly once and in order, and what is live while it lasts; ends with the terminal
 * entry. A connection that is cut is made again from the last entry; when that does not help any more, or the signal
 * fires, it throws: a stream that ends quietly has come to the end of its run.
 */
export async function* readRunStream(
  brain: BrainConnection,
  run: string,
  { after = 0, live, signal }: FollowOptions = {},
): AsyncGenerator<RunStreamItem, void, undefined> {
  const retries = new Retries(brain.retryOptions, signal);
  const path = `v1/runs/${encodeURIComponent(run)}/events`;
  let cursor = after;
  for (;;) {
    const begunAt = performance.now();
    try {
      const lines = await brain.openStream({ method: "GET", path, query: { after: cursor, live }, signal });
      if (lines === undefined) return;
      for await (const line of lines) {
        const item = readRunStreamItem(line);
        if (item === undefined || isKnown(item, cursor)) continue;
        if ("entry" in item) {
          cursor = item.entry.seq;
          retries.reset();
        }
        yield item;
        if ("entry" in item && isTerminal(item.entry.event)) return;
      }
      throw new VidroError("CONNECTION_LOST", `The stream of ${run} ended after entry ${cursor}, before the run did.`);
    } catch (thrown) {
      const lasted = performance.now() - begunAt >= CLIENT_LIMITS.steadyMs;
      // Not when it was given up for its silence: such a brain may be dead, and is not waited for without end.
      if (lasted && thrown instanceof VidroError && thrown.code === "CONNECTION_LOST") retries.reset();
      await retries.backOff(thrown);
    }
  }
}

/** Whether the follower has it already; what leaves a gap is as good as a cut, since it can be asked for again. */
function isKnown(item: RunStreamItem, cursor: number): boolean {
  if ("live" in item) return false;
  const { seq } = item.entry;
  if (seq > cursor + 1)
    throw new VidroError("CONNECTION_LOST", `Entry ${cursor + 1} did not come before entry ${seq}.`);
  return seq <= cursor;
}
