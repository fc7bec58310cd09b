import { FIRST_GENERATION } from "@vidro/core/run";
import { memoryJournal } from "./memory/journal.ts";
import { memoryRecords } from "./memory/records.ts";
import type { Store, StoreOptions } from "./store.ts";

/** A store in memory; it is the reference for the behaviour of every store. */
export function memoryStore(options: StoreOptions = {}): Store {
  const now = options.now ?? Date.now;
  const journal = memoryJournal(now);
  const condition = { damaged: () => [], openRuns: async () => journal.openRuns() };
  const incarnation = { generation: FIRST_GENERATION, floor: 0 };
  return { incarnation, journal, records: memoryRecords(now), condition, close: () => journal.close() };
}
