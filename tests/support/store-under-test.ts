import { join } from "node:path";
import { openBus } from "../../packages/brain/src/bus/buses.ts";
import { forwardJournal } from "../../packages/brain/src/stores/forward-journal.ts";
import { openStore } from "../../packages/brain/src/stores/stores.ts";
import type { Store } from "../../packages/brain/src/stores/store.ts";
import { isOnServers, schemaOf, storeSettings } from "./store-settings.ts";

/** Opens the store of a home; closing it closes its bus, too. */
export async function openStoreUnderTest(home: string): Promise<Store> {
  const { VIDRO_STORE, VIDRO_BUS } = storeSettings(home);
  if (VIDRO_STORE === undefined || VIDRO_BUS === undefined) return openStore("sqlite", join(home, "journal.db"));
  const bus = await openBus(VIDRO_BUS);
  const store = await openStore("postgres", VIDRO_STORE, { bus });
  const close = async (): Promise<void> => {
    await store.close();
    await bus.close();
  };
  return { ...store, journal: { ...forwardJournal(store.journal), close }, close };
}

let opened = 0;

/** A store of its own without a home: in memory, or in the server under test. */
export function openPassingStore(): Promise<Store> {
  opened += 1;
  return isOnServers ? openStoreUnderTest(`passing-${process.pid}-${opened}`) : openStore("memory", "");
}

/** Does SQL in the store of a home, beside whatever has it open. */
export async function alterStore(home: string, sql: string): Promise<void> {
  const { VIDRO_STORE } = storeSettings(home);
  if (VIDRO_STORE === undefined) {
    const { DatabaseSync } = await import("node:sqlite");
    using database = new DatabaseSync(join(home, "journal.db"));
    database.exec(sql);
    return;
  }
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    connectionString: VIDRO_STORE.split("?")[0],
    options: `-c search_path=${schemaOf(home)}`,
  });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
