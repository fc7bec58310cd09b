import { BUS_LIMITS, isTerminal } from "@vidro/core";
import type { Bus, Entry, Journal, LiveBus, LiveItem } from "@vidro/core";
import { forwardJournal } from "../stores/forward-journal.ts";

/**
 * Writes what happens in runs to streams of the bus, for programs that read it there [004-14]: each entry at its `seq`,
 * and live events behind the entry that they came after. Entries of a time without a bus are missing; the journal has them.
 */
export class TaskStreams {
  readonly #bus: Bus;
  /** The last place of each run that is driven here. */
  readonly #places = new Map<string, { seq: number; number: number }>();

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** The same journal; its entries are streamed once they are durable. */
  journal(inner: Journal): Journal {
    return {
      ...forwardJournal(inner),
      create: async (run, entries, holder) => {
        const created = await inner.create(run, entries, holder);
        if (created.lease !== undefined) this.#entries(run.id, entries);
        return created;
      },
      append: async (lease, entries, beside) => {
        await inner.append(lease, entries, beside);
        this.#entries(lease.run, entries);
      },
    };
  }

  /** The same live events; they are streamed, too. */
  live(inner: LiveBus): LiveBus {
    return {
      publish: (run, live) => {
        inner.publish(run, live);
        this.#live(run, live);
      },
      watch: (run, hear) => inner.watch(run, hear),
    };
  }

  #entries(run: string, entries: readonly Entry[]): void {
    for (const entry of entries) {
      const text = JSON.stringify(entry);
      const { seq, at, event } = entry;
      const short =
        text.length > BUS_LIMITS.itemChars ? JSON.stringify({ seq, at, event: { type: event.type } }) : text;
      this.#bus.append(streamOf(run), { place: [seq, 0], text: short });
      if (isTerminal(event)) this.#places.delete(run);
      else this.#places.set(run, { seq, number: 0 });
    }
  }

  #live(run: string, { after, event }: LiveItem): void {
    const last = this.#places.get(run);
    // A stream only grows: a live event before its entry would keep the entry out.
    if (last === undefined || last.seq !== after) return;
    last.number += 1;
    this.#bus.append(streamOf(run), { place: [after, last.number], text: JSON.stringify({ after, live: event }) });
  }
}

/** The braces keep what belongs to one run in one slot of a cluster. */
function streamOf(run: string): string {
  return `task:{${run}}:events`;
}
