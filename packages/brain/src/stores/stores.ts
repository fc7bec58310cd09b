import type { Journal } from "@vidro/core";
import { memoryJournal } from "./memory.ts";
import { sqliteJournal } from "./sqlite.ts";
import type { JournalOptions } from "./standing.ts";

/** Opens a store; `where` is what it calls its place, a file's path for most. */
export type OpenStore = (where: string, options?: JournalOptions) => Promise<Journal>;

/** The stores that there are; a new one is a file and a line here. */
export const STORES = {
  memory: async (_where, options) => memoryJournal(options),
  sqlite: sqliteJournal,
} as const satisfies Record<string, OpenStore>;

/** The name of a store. */
export type StoreName = keyof typeof STORES;

/** Opens the store of that name. */
export function openStore(name: StoreName, where: string, options?: JournalOptions): Promise<Journal> {
  return STORES[name](where, options);
}
