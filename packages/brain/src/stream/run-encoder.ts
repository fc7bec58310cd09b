import type { Entry, FaultReport, LiveEvent, TerminalEvent } from "@vidro/core";

/**
 * How a wire says what happens in a run. What an encoder gives depends on its arguments alone, and followers with the
 * same encoder share what it gave: make one for all, not one for each request, wherever the words are the same.
 */
export interface RunEncoder {
  readonly contentType: string;
  /** One encoder serves all followers of its wire, so that what it made of old entries may be kept for the next one. */
  readonly isShared?: boolean;
  /** What the head of the answer carries besides. */
  readonly headers?: { readonly [name: string]: string };
  /** An entry as it is sent; undefined when this wire has no word for it. */
  entry(entry: Entry, run: string): string | undefined;
  /** Something live that came after entry `after`. */
  live(live: LiveEvent, after: number, run: string): string | undefined;
  /** What shows in silence that the stream lives. */
  readonly heartbeat: string | ((run: string) => string);
  readonly heartbeatMs: number;
  /** The first words, before any entry. */
  begin?(run: string): string;
  /** Entries between what the follower has and `next` are not to be had: what it knows of the run is void. */
  resync?(run: string, next: number): string;
  /** The run cannot be shown any further, and this is why; it counts as the end. */
  fault?(fault: FaultReport, run: string): string;
  /** The last words; there is no last event when the brain stopped driving a run that is still open. */
  end?(last: TerminalEvent | undefined): string;
}
