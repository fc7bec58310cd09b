import { Fault } from "@vidro/core";
import { sqliteStore } from "./sqlite.ts";
import type { Store, StoreOptions } from "./store.ts";

/** Opens a store; `where` is its location, a file path for most. */
export type OpenStore = (where: string, options?: StoreOptions) => Promise<Store>;

/** All stores; a new one is a file and a line here. */
export const STORES = {
  memory: async (_where, options) => (await import("./memory.ts")).memoryStore(options),
  sqlite: sqliteStore,
  postgres: async (where, options) => (await import("./postgres.ts")).postgresStore(where, options),
} as const satisfies Record<string, OpenStore>;

/** The name of a store. */
export type StoreName = keyof typeof STORES;

/** The store that an address is of; BAD_REQUEST when there is none. */
export function storeNamed(address: string): StoreName {
  if (/^postgres(?:ql)?:\/\//u.test(address)) return "postgres";
  throw new Fault(
    "BAD_REQUEST",
    "The address of the store does not begin with postgres://; see vidro config explain store.",
  );
}

/** Opens the store of that name. */
export function openStore(name: StoreName, where: string, options?: StoreOptions): Promise<Store> {
  return STORES[name](where, options);
}
