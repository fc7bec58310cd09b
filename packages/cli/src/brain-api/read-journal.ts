import { FOLLOW_LIMITS } from "@vidro/core";
import type { Entry, Journal } from "@vidro/core";

/** The entries of a run as they are now, up to `last`, read batch by batch. */
export async function* readJournal(journal: Journal, run: string, last = Infinity): AsyncGenerator<Entry> {
  let after = 0;
  while (after < last) {
    const entries = await journal.read(run, after, Math.min(FOLLOW_LIMITS.batch, last - after));
    yield* entries;
    after = entries.at(-1)?.seq ?? after;
    if (entries.length < FOLLOW_LIMITS.batch) return;
  }
}
