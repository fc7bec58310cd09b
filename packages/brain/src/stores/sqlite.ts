import { Damage } from "./damage.ts";
import { openRunsIn } from "./open-runs.ts";
import { storeFault } from "./sqlite/fault.ts";
import { SqliteConnection } from "./sqlite/connection.ts";
import { sqliteAudit } from "./sqlite/audit.ts";
import { sqliteIncarnation } from "./sqlite/incarnation.ts";
import { sqliteJournal } from "./sqlite/journal.ts";
import { openDatabase } from "./sqlite/open.ts";
import { sqliteRecords } from "./sqlite/records.ts";
import { sqliteRetention } from "./sqlite/retention.ts";
import { SqliteSeals } from "./sqlite/seals.ts";
import { SqliteSpending } from "./sqlite/spending.ts";
import type { Store, StoreOptions } from "./store.ts";

/** Options of the SQLite store. */
export interface SqliteOptions extends StoreOptions {
  /** Largest size of the database in pages; the disk is the bound when left out. */
  readonly maxPages?: number;
}

/** A store in one file that several processes may have open. */
export async function sqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const now = options.now ?? Date.now;
  const database = openDatabase(path);
  try {
    if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(options.maxPages)}`);
    const connection = new SqliteConnection(database, path);
    const damage = new Damage();
    const incarnation = sqliteIncarnation(connection, path, { now, restored: options.restored === true });
    const { sealKey: key } = options;
    const isRestored = options.restored === true;
    const seals = key === undefined ? undefined : new SqliteSeals(connection, { path, key, now, isRestored });
    const spending = new SqliteSpending(connection);
    const wrote = spending.count.bind(spending);
    const records = sqliteRecords(connection, { now, isSealed: seals !== undefined });
    const make = records.make.bind(records);
    const ended = (): void => seals?.ended();
    return {
      incarnation,
      ...(key === undefined ? {} : { audit: sqliteAudit(connection, path, key) }),
      journal: sqliteJournal(connection, { now, damage, floor: incarnation.floor, ended, wrote, make }),
      spending: spending.sums,
      records,
      retention: sqliteRetention(connection, (run) => {
        // The sums of a thread go with its last run, so those of this commit must be there by then.
        spending.settle();
        seals?.pruned(run);
      }),
      condition: { damaged: () => damage.list(), openRuns: openRunsIn(connection, now) },
      close: () => connection.close(),
    };
  } catch (thrown) {
    // Damage of the schema shows only now, when statements are prepared.
    database.close();
    throw storeFault(thrown, path);
  }
}
