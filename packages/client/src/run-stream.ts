import { CLIENT_LIMITS, isTerminal } from "@vidro/core";
import { readRunStreamItem } from "./run-stream-item.ts";
import type { RunStreamItem } from "./run-stream-item.ts";
import type { BrainConnection } from "./brain-connection.ts";
import { Retries } from "./retries.ts";
import { VidroError } from "./vidro-error.ts";

/** From where a run is item, and until when. */
export interface FollowOptions {
  /** Last `seq` that the caller has; 0 or absent for all entries. */
  readonly after?: number;
  /** False leaves out live events. */
  readonly live?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Every entry after `after`, each exactly once and in order, with live events in between; ends with the terminal entry.
 * A cut connection is made again from the last entry. When the retries are used up or the signal fires, it throws: an
 * iteration that ends without an error has reached the end of the run.
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
      // A connection that was given up for its silence does not count: its brain may be dead.
      if (lasted && thrown instanceof VidroError && thrown.code === "CONNECTION_LOST") retries.reset();
      await retries.backOff(thrown);
    }
  }
}

/** Whether the caller already has the item. A gap is treated as a cut connection, so that the entries are read again. */
function isKnown(item: RunStreamItem, cursor: number): boolean {
  if ("live" in item) return false;
  const { seq } = item.entry;
  if (seq > cursor + 1)
    throw new VidroError("CONNECTION_LOST", `Entry ${cursor + 1} did not come before entry ${seq}.`);
  return seq <= cursor;
}
