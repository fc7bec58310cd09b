import { asFault, Fault, KNOWLEDGE_LIMITS } from "@vidro/core";
import type { DatabaseSync } from "node:sqlite";

/** A database of SQLite that is opened at its first use, which most processes never make. */
export class LateDatabase {
  readonly #path: string;
  readonly #migrations: readonly string[];
  /** What it is called in faults. */
  readonly #name: string;
  readonly #prepare: (database: DatabaseSync) => void;
  #opened: Promise<DatabaseSync> | undefined;

  /** `:memory:` keeps nothing; `prepare` is called with the opened database. */
  constructor(
    path: string,
    migrations: readonly string[],
    { name, prepare = () => undefined }: { readonly name: string; readonly prepare?: (database: DatabaseSync) => void },
  ) {
    this.#path = path;
    this.#migrations = migrations;
    this.#name = name;
    this.#prepare = prepare;
  }

  /** Does some work with the database; failures are STORE_FAILED. */
  async use<Value>(work: (database: DatabaseSync) => Value): Promise<Value> {
    try {
      const opened = (this.#opened ??= this.#open());
      // A failure to open is not kept, so that the next use tries again.
      opened.catch(() => (this.#opened = undefined));
      return work(await opened);
    } catch (cause) {
      throw cause instanceof Fault
        ? cause
        : new Fault("STORE_FAILED", `${this.#name}: ${asFault(cause).message}`, { cause });
    }
  }

  /** Changes the database in one commit. */
  change(work: (database: DatabaseSync) => void): Promise<void> {
    return this.use((database) => inTransaction(database, work));
  }

  /** Closes it; the next use opens it again. */
  async close(): Promise<void> {
    const database = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    database?.close();
  }

  async #open(): Promise<DatabaseSync> {
    let database: DatabaseSync;
    if (this.#path === ":memory:") {
      const { DatabaseSync: Database } = await import("node:sqlite");
      database = new Database(this.#path);
      for (const migration of this.#migrations) database.exec(migration);
    } else {
      const { openDatabase } = await import("../stores/sqlite/open.ts");
      database = openDatabase(this.#path, this.#migrations);
    }
    // An index of much text is larger than what SQLite keeps in memory by itself.
    database.exec(`PRAGMA cache_size = -${KNOWLEDGE_LIMITS.cacheKib}`);
    this.#prepare(database);
    return database;
  }
}

/** Does some work in one transaction. */
export function inTransaction(database: DatabaseSync, work: (database: DatabaseSync) => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work(database);
    database.exec("COMMIT");
  } catch (thrown) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}
