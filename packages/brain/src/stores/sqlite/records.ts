import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewRecord, Records, StoredRecord } from "@vidro/core";
import { noSuchPlace, recordBody, recordText, refuseUnlessVersion } from "../record-rules.ts";
import type { RecordFilter } from "../record-rules.ts";
import type { SqliteConnection } from "./connection.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";
import { SqliteWatchers } from "./watchers.ts";

type Row = Omit<StoredRecord, "body"> & { readonly text: string };

const STORED = `SELECT kind, id, owner, body AS text, version, created AS createdAt, updated AS updatedAt FROM record`;

/** Options of the records. */
interface SqliteRecordsOptions {
  readonly now: () => number;
  /** Whether changes are to be sealed. */
  readonly isSealed: boolean;
}

/** The records in a database that they share with other parts. */
export function sqliteRecords(connection: SqliteConnection, options: SqliteRecordsOptions): SqliteRecords {
  return new SqliteRecords(connection, options);
}

class SqliteRecords implements Records {
  readonly #connection: SqliteConnection;
  readonly #now: () => number;
  readonly #isSealed: boolean;
  readonly #watchers: SqliteWatchers;
  /** Kinds that the open transaction changed, with the total number of changes of each. */
  readonly #touched = new Map<string, number>();
  #put!: StatementSync;
  #delete!: StatementSync;
  #unseal!: StatementSync;
  #count!: Query<{ readonly changes: number }>;
  #get!: Query<Row>;
  #place!: Query<{ readonly number: number }>;
  #changes!: Query<{ readonly changes: number }>;

  constructor(connection: SqliteConnection, { now, isSealed }: SqliteRecordsOptions) {
    this.#connection = connection;
    this.#now = now;
    this.#isSealed = isSealed;
    connection.join({
      opened: (database) => this.#prepare(database),
      begun: () => undefined,
      undone: () => this.#touched.clear(),
      committed: () => this.#wake(),
    });
    this.#watchers = new SqliteWatchers(connection, (kind) => this.#changes.get(kind)?.changes ?? 0);
  }

  #prepare(database: DatabaseSync): void {
    this.#put = database.prepare(
      `INSERT INTO record (kind, id, owner, body, version, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE
      SET owner = excluded.owner, body = excluded.body, version = excluded.version, updated = excluded.updated`,
    );
    this.#delete = database.prepare("DELETE FROM record WHERE kind = ? AND id = ?");
    this.#unseal = database.prepare("INSERT INTO record_unsealed (kind, id) VALUES (?, ?)");
    this.#count = query(
      database,
      `INSERT INTO record_change (kind, changes) VALUES (?, 1)
      ON CONFLICT (kind) DO UPDATE SET changes = changes + 1 RETURNING changes`,
    );
    this.#get = query(database, `${STORED} WHERE kind = ? AND id = ?`);
    this.#place = query(database, "SELECT number FROM record WHERE kind = ? AND id = ?");
    this.#changes = query(database, "SELECT changes FROM record_change WHERE kind = ?");
  }

  async get(kind: string, id: string): Promise<StoredRecord | undefined> {
    const row = this.#connection.look(() => this.#get.get(kind, id));
    return row && recordOf(row);
  }

  async put(record: NewRecord, version?: number): Promise<StoredRecord> {
    const text = recordText(record);
    const { kind, id, owner } = record;
    return this.#connection.write((isRepeat) => {
      const known = this.#get.get(kind, id);
      if (isRepeat && known?.text === text && known.owner === owner) return recordOf(known);
      refuseUnlessVersion(record, known?.version ?? 0, version);
      const updatedAt = this.#now();
      const createdAt = known?.createdAt ?? updatedAt;
      const row: Row = { kind, id, owner, text, version: (known?.version ?? 0) + 1, createdAt, updatedAt };
      this.#put.run(kind, id, owner, text, row.version, createdAt, updatedAt);
      this.#touch(kind, id);
      return recordOf(row);
    });
  }

  /** Makes a record in the open transaction, unless it is there. */
  make(record: NewRecord, text: string): void {
    const { kind, id, owner } = record;
    if (this.#get.get(kind, id) !== undefined) return;
    const now = this.#now();
    this.#put.run(kind, id, owner, text, 1, now, now);
    this.#touch(kind, id);
  }

  async delete(kind: string, id: string): Promise<boolean> {
    return this.#connection.write((isRepeat) => {
      if (this.#delete.run(kind, id).changes === 0) return isRepeat;
      this.#touch(kind, id);
      return true;
    });
  }

  async list(kind: string, filter: RecordFilter): Promise<readonly StoredRecord[]> {
    const { owner, after, limit, order = "oldest" } = filter;
    const [beyond, way, start] = order === "oldest" ? [">", "ASC", 0] : ["<", "DESC", Number.MAX_SAFE_INTEGER];
    const rows = this.#connection.look(() => {
      const place = after === undefined ? start : this.#place.get(kind, after)?.number;
      if (place === undefined) throw noSuchPlace(kind, after ?? "");
      const [whose, values] = owner === undefined ? ["", []] : ["AND owner = ?", [owner]];
      const sql = `${STORED} WHERE kind = ? AND number ${beyond} ? ${whose} ORDER BY number ${way} LIMIT ?`;
      return query<Row>(this.#connection.database, sql).all(kind, place, ...values, limit);
    });
    return rows.map(recordOf);
  }

  watch(kind: string, wake: () => void): () => void {
    return this.#watchers.add(kind, wake);
  }

  #touch(kind: string, id: string): void {
    if (this.#isSealed) this.#unseal.run(kind, id);
    this.#touched.set(kind, this.#count.get(kind)?.changes ?? 0);
  }

  #wake(): void {
    for (const [kind, changes] of this.#touched) this.#watchers.tell(kind, changes);
    this.#touched.clear();
  }
}

function recordOf({ text, ...rest }: Row): StoredRecord {
  return { ...rest, body: recordBody(text) };
}
