import { Fault, FOLLOW_LIMITS, isTerminal } from "@vidro/core";
import type { Entry, Journal, LiveItem, LiveBus, LiveEvent } from "@vidro/core";
import { Wakeup } from "./wakeup.ts";
import { isOpen } from "../stores/run-rules.ts";

/** An item of a followed run: an entry of the journal, or a live event that came after entry `after`. */
export type FollowItem = { readonly entry: Entry } | { readonly live: LiveEvent; readonly after: number };

/** Why this process stopped driving a run: the fault for which the store refused its entries, if there was one. */
export interface LoopEnd {
  readonly fault?: unknown;
}

/** Which run to follow, and from where. */
interface FollowOptions {
  readonly journal: Journal;
  readonly live: LiveBus;
  readonly run: string;
  /** The last `seq` that the follower has. */
  readonly after: number;
  /** Aborted with a LoopEnd as its reason when this process stops driving the run. */
  readonly driven: AbortSignal | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Follows a run by cursor: each wake-up reads the new entries, so a slow follower holds up no other one and misses no
 * entry. Live events wait in a bounded queue and the oldest are dropped. It ends with the terminal entry, at once when
 * the cursor is at that entry or beyond it, when the signal fires, or when this process stopped driving the run. A run
 * that another process took over is followed on.
 */
export async function* followRun(what: FollowOptions): AsyncGenerator<FollowItem, void, undefined> {
  for await (const batch of followRunInBatches(what)) yield* batch;
}

/** The same in batches, one for each read: one iteration of the generator for many entries. */
export async function* followRunInBatches(what: FollowOptions): AsyncGenerator<readonly FollowItem[], void, undefined> {
  const wakeup = new Wakeup();
  const waiting: LiveItem[] = [];
  // Set by the journal alone: a live token must not cost a read.
  let hasNews = true;
  const stops = [
    what.journal.watch(what.run, () => {
      hasNews = true;
      wakeup.wake();
    }),
    what.live.watch(what.run, (live) => {
      // Words from before the follower's cursor are in an entry that it has.
      if (live.after < what.after) return;
      if (waiting.length >= FOLLOW_LIMITS.live) waiting.shift();
      waiting.push(live);
      wakeup.wake();
    }),
  ];
  const wake = (): void => wakeup.wake();
  for (const signal of [what.signal, what.driven]) signal?.addEventListener("abort", wake);

  let cursor = what.after;
  try {
    while (what.signal?.aborted !== true) {
      const over = loopEndOf(what.driven);
      const mayHaveMore: boolean = hasNews || over !== undefined;
      hasNews = false;
      const entries: readonly Entry[] = mayHaveMore
        ? await what.journal.read(what.run, cursor, FOLLOW_LIMITS.batch)
        : [];
      const last = entries.at(-1);
      cursor = last?.seq ?? cursor;
      const batch = inOrder(entries, waiting, cursor);
      if (batch.length > 0) yield batch;
      if (last !== undefined && isTerminal(last.event)) return;
      // No entries: the cursor may be at the terminal entry, or beyond it.
      if (mayHaveMore && last === undefined && (await isPastEnd(what, cursor))) return;
      // A full batch may have left entries behind; entries written after the read wake this loop.
      hasNews ||= entries.length === FOLLOW_LIMITS.batch;
      if (hasNews) continue;
      if (over?.fault !== undefined) throw over.fault;
      if (over !== undefined) return;
      await wakeup.wait();
    }
  } finally {
    for (const signal of [what.signal, what.driven]) signal?.removeEventListener("abort", wake);
    for (const stop of stops) stop();
  }
}

/** Why this process stopped driving the run; undefined while it drives it, or when another process took it over. */
function loopEndOf(driven: AbortSignal | undefined): LoopEnd | undefined {
  if (driven?.aborted !== true) return undefined;
  const left = driven.reason as LoopEnd;
  return left.fault instanceof Fault && left.fault.code === "LEASE_LOST" ? undefined : left;
}

async function isPastEnd({ journal, run }: FollowOptions, cursor: number): Promise<boolean> {
  const head = await journal.head(run);
  return head !== undefined && !isOpen(head.status) && head.seq <= cursor;
}

/** Entries in order, each behind the live events that came before it, then the live events since the last one. */
function inOrder(entries: readonly Entry[], waiting: LiveItem[], cursor: number): readonly FollowItem[] {
  const batch: FollowItem[] = [];
  for (const entry of entries) {
    while ((waiting[0]?.after ?? entry.seq) < entry.seq) batch.push(liveItem(waiting.shift()!));
    batch.push({ entry });
  }
  while ((waiting[0]?.after ?? Infinity) <= cursor) batch.push(liveItem(waiting.shift()!));
  return batch;
}

function liveItem(live: LiveItem): FollowItem {
  return { live: live.event, after: live.after };
}
