import { FOLLOW, isTerminal } from "@vidro/core";
import type { Entry, Journal, Live, LiveBus, LiveEvent } from "@vidro/core";

/** What a follower gets: an entry of the journal, or something live that came after entry `after`. */
export type Followed = { readonly entry: Entry } | { readonly live: LiveEvent; readonly after: number };

/** What to follow, and from where. */
export interface Follow {
  readonly journal: Journal;
  readonly live: LiveBus;
  readonly run: string;
  /** The last `seq` that the follower has. */
  readonly after: number;
  /** Settles when this process stops driving the run; a rejection is passed on. */
  readonly driven: Promise<void> | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Follows a run by cursor: on a wake it reads what is new, so a slow follower costs nobody anything and misses no
 * entry. Live events wait in a bounded queue and the oldest are dropped. It ends with the terminal entry, when the
 * signal fires, or when this process stopped driving the run.
 */
export async function* follow(what: Follow): AsyncGenerator<Followed, void, undefined> {
  const bell = new Bell();
  const waiting: Live[] = [];
  const stops = [
    what.journal.watch(what.run, () => bell.ring()),
    what.live.hear(what.run, (live) => {
      if (waiting.length >= FOLLOW.live) waiting.shift();
      waiting.push(live);
      bell.ring();
    }),
  ];
  const hangUp = (): void => bell.ring();
  what.signal?.addEventListener("abort", hangUp);
  let left: { readonly fault?: unknown } | undefined;
  const leave = (how: { readonly fault?: unknown }): void => {
    left = how;
    bell.ring();
  };
  what.driven?.then(
    () => leave({}),
    (fault: unknown) => leave({ fault }),
  );

  let cursor = what.after;
  try {
    while (what.signal?.aborted !== true) {
      const over = left;
      const entries = await what.journal.read(what.run, cursor, FOLLOW.batch);
      for (const entry of entries) {
        while ((waiting[0]?.after ?? entry.seq) < entry.seq) yield spoken(waiting.shift()!);
        yield { entry };
        cursor = entry.seq;
        if (isTerminal(entry.event)) return;
      }
      if (entries.length > 0) continue;
      while ((waiting[0]?.after ?? Infinity) <= cursor) yield spoken(waiting.shift()!);
      if (over?.fault !== undefined) throw over.fault;
      if (over !== undefined) return;
      await bell.rung();
    }
  } finally {
    what.signal?.removeEventListener("abort", hangUp);
    for (const stop of stops) stop();
  }
}

function spoken(live: Live): Followed {
  return { live: live.event, after: live.after };
}

/** A bell that remembers being rung while nobody waited. */
class Bell {
  #rung = false;
  #waiting: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  async rung(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#waiting = resolve));
    this.#rung = false;
    this.#waiting = undefined;
  }
}
