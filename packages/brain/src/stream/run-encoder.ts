import type { Entry, FaultReport, LiveEvent, TerminalEvent } from "@vidro/core";

/**
 * Encodes a run for one wire. The text depends on the arguments alone, and followers with the same encoder share it:
 * make one encoder for all requests, not one for each, wherever their text is the same.
 */
export interface RunEncoder {
  readonly contentType: string;
  /** One encoder serves all followers of its wire, so that encoded old entries may be cached. */
  readonly isShared?: boolean;
  /** Further headers of the response. */
  readonly headers?: { readonly [name: string]: string };
  /** Text of an entry; undefined when this wire has none for it. */
  entry(entry: Entry, run: string): string | undefined;
  /** Text of a live event that came after entry `after`. */
  live(live: LiveEvent, after: number, run: string): string | undefined;
  /** Sent after `heartbeatMs` of silence, to show that the stream is alive. */
  readonly heartbeat: string | ((run: string) => string);
  readonly heartbeatMs: number;
  /** Text before any entry. */
  begin?(run: string): string;
  /** Tells the follower that entries before `next` are missing: what it knows of the run is void. */
  resync?(run: string, next: number): string;
  /** Text of the fault that ends the stream. */
  fault?(fault: FaultReport, run: string): string;
  /** Text at the end; `last` is undefined when the brain stopped driving a run that is still open. */
  end?(last: TerminalEvent | undefined): string;
}
