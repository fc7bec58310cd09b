import { FIRST_GENERATION } from "@vidro/core/run";
import { memoryJournal } from "./memory/journal.ts";
import { memoryRecords } from "./memory/records.ts";
import { MemorySpending } from "./memory/spending.ts";
import type { Store, StoreOptions } from "./store.ts";

/** A store in memory; it is the reference for the behaviour of every store. */
export function memoryStore(options: StoreOptions = {}): Store {
  const now = options.now ?? Date.now;
  const spending = new MemorySpending();
  const records = memoryRecords(now);
  const journal = memoryJournal(now, (run, entries, beside) => {
    spending.count(run, entries);
    // One that is there stays as it is.
    for (const record of beside) void records.put(record, 0).catch(() => undefined);
  });
  const condition = { damaged: () => [], openRuns: async () => journal.openRuns() };
  const incarnation = { generation: FIRST_GENERATION, floor: 0 };
  return { incarnation, journal, records, spending, condition, close: () => journal.close() };
}
