import { Fault, FOLLOW_LIMITS, isTerminal } from "@vidro/core";
import type { Entry, Journal, LiveItem, LiveBus, LiveEvent } from "@vidro/core";
import { Wakeup } from "./wakeup.ts";
import { isOpen } from "../stores/run-rules.ts";

/** What a follower gets: an entry of the journal, or something live that came after entry `after`. */
export type FollowItem = { readonly entry: Entry } | { readonly live: LiveEvent; readonly after: number };

/** How a process came to drive a run no more: with the fault that keeps it from being recorded, if there is one. */
export interface LoopEnd {
  readonly fault?: unknown;
}

/** What to follow, and from where. */
interface FollowOptions {
  readonly journal: Journal;
  readonly live: LiveBus;
  readonly run: string;
  /** The last `seq` that the follower has. */
  readonly after: number;
  /** Aborted when this process stops driving the run, with how that came as the reason. */
  readonly driven: AbortSignal | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Follows a run by cursor: on a wake it reads what is new, so a slow follower costs nobody anything and misses no
 * entry. Live events wait in a bounded queue and the oldest are dropped. It ends with the terminal entry, at once when
 * the cursor is at that entry or beyond it, when the signal fires, or when this process stopped driving the run. A run
 * that another process took over is followed on.
 */
export async function* followRun(what: FollowOptions): AsyncGenerator<FollowItem, void, undefined> {
  for await (const batch of followRunInBatches(what)) yield* batch;
}

/** The same, with all that one read gave at a time: for those who pass on much more than they look at. */
export async function* followRunInBatches(what: FollowOptions): AsyncGenerator<readonly FollowItem[], void, undefined> {
  const bell = new Wakeup();
  const waiting: LiveItem[] = [];
  // The journal says when there is more to read: a token that comes live must not cost a read.
  let hasNews = true;
  const stops = [
    what.journal.watch(what.run, () => {
      hasNews = true;
      bell.wake();
    }),
    what.live.watch(what.run, (live) => {
      if (waiting.length >= FOLLOW_LIMITS.live) waiting.shift();
      waiting.push(live);
      bell.wake();
    }),
  ];
  const ring = (): void => bell.wake();
  for (const signal of [what.signal, what.driven]) signal?.addEventListener("abort", ring);

  let cursor = what.after;
  try {
    while (what.signal?.aborted !== true) {
      const over = leftFor(what.driven);
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
      // Nothing to read is the end for a cursor that is at the terminal entry, or beyond it.
      if (mayHaveMore && last === undefined && (await isPastEnd(what, cursor))) return;
      // A full batch may have left some behind; whatever is written after a read rings the bell.
      hasNews ||= entries.length === FOLLOW_LIMITS.batch;
      if (hasNews) continue;
      if (over?.fault !== undefined) throw over.fault;
      if (over !== undefined) return;
      await bell.wait();
    }
  } finally {
    for (const signal of [what.signal, what.driven]) signal?.removeEventListener("abort", ring);
    for (const stop of stops) stop();
  }
}

/** How this process left the run for good; nothing while it drives it, or when another process drives it now. */
function leftFor(driven: AbortSignal | undefined): LoopEnd | undefined {
  if (driven?.aborted !== true) return undefined;
  const left = driven.reason as LoopEnd;
  return left.fault instanceof Fault && left.fault.code === "LEASE_LOST" ? undefined : left;
}

async function isPastEnd({ journal, run }: FollowOptions, cursor: number): Promise<boolean> {
  const head = await journal.head(run);
  return head !== undefined && !isOpen(head.status) && head.seq <= cursor;
}

/** Entries, each after what was live before it, and what is live since the last of them. */
function inOrder(entries: readonly Entry[], waiting: LiveItem[], cursor: number): readonly FollowItem[] {
  const batch: FollowItem[] = [];
  for (const entry of entries) {
    while ((waiting[0]?.after ?? entry.seq) < entry.seq) batch.push(spoken(waiting.shift()!));
    batch.push({ entry });
  }
  while ((waiting[0]?.after ?? Infinity) <= cursor) batch.push(spoken(waiting.shift()!));
  return batch;
}

function spoken(live: LiveItem): FollowItem {
  return { live: live.event, after: live.after };
}
