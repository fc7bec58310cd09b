import type { NewRecord, Records, StoredRecord } from "@vidro/core";
import { noSuchPlace, recordBody, recordText, refuseUnlessVersion } from "../record-rules.ts";
import type { RecordFilter } from "../record-rules.ts";
import type { PostgresConnection, SqlValue } from "./connection.ts";
import { Sequences } from "./sequences.ts";
import type { PostgresWakes } from "./wakes.ts";

type Row = Omit<StoredRecord, "body"> & { readonly text: string };

const STORED = `SELECT kind, id, owner, body AS text, version, created AS "createdAt", updated AS "updatedAt" FROM record`;
const GET = { name: "record", text: `${STORED} WHERE kind = $1 AND id = $2` };
// The counter of the kind moves in the same statement.
const COUNTED = `counted AS (
    INSERT INTO record_change (kind, changes) SELECT $1, 1 FROM done
    ON CONFLICT (kind) DO UPDATE SET changes = record_change.changes + 1 RETURNING changes)
  SELECT changes FROM counted`;
const INSERT = {
  text: `WITH done AS (
    INSERT INTO record (kind, id, owner, body, version, created, updated) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT DO NOTHING RETURNING number), ${COUNTED}`,
};
// Another change in between leaves no row of that version.
const UPDATE = {
  text: `WITH done AS (
    UPDATE record SET owner = $3, body = $4, version = $5, created = $6, updated = $7
    WHERE kind = $1 AND id = $2 AND version = $5 - 1 RETURNING number), ${COUNTED}`,
};
const DELETE = { text: `WITH done AS (DELETE FROM record WHERE kind = $1 AND id = $2 RETURNING number), ${COUNTED}` };

interface ChangeCount {
  readonly changes: number;
}

/** The records in a database that they share with other parts. */
export function postgresRecords(connection: PostgresConnection, wakes: PostgresWakes, now: () => number): Records {
  return new PostgresRecords(connection, wakes, now);
}

class PostgresRecords implements Records {
  readonly #connection: PostgresConnection;
  readonly #wakes: PostgresWakes;
  readonly #now: () => number;
  readonly #sequences = new Sequences();
  /** The last known number of changes of each kind; there are few kinds. */
  readonly #changes = new Map<string, number>();

  constructor(connection: PostgresConnection, wakes: PostgresWakes, now: () => number) {
    this.#connection = connection;
    this.#wakes = wakes;
    this.#now = now;
  }

  async get(kind: string, id: string): Promise<StoredRecord | undefined> {
    const [row] = await this.#connection.read<Row>(GET, [kind, id]);
    return row && recordOf(row);
  }

  async put(record: NewRecord, version?: number): Promise<StoredRecord> {
    const text = recordText(record);
    const { kind, id, owner } = record;
    const attempt = async (isRepeat: boolean): Promise<StoredRecord> => {
      for (;;) {
        const [known] = await this.#connection.query<Row>(GET, [kind, id]);
        if (isRepeat && known?.text === text && known.owner === owner) return recordOf(known);
        refuseUnlessVersion(record, known?.version ?? 0, version);
        const updatedAt = this.#now();
        const createdAt = known?.createdAt ?? updatedAt;
        const row: Row = { kind, id, owner, text, version: (known?.version ?? 0) + 1, createdAt, updatedAt };
        const values = [kind, id, owner, text, row.version, createdAt, updatedAt];
        const statement = known === undefined ? INSERT : UPDATE;
        if (this.#isChanged(kind, await this.#connection.query<ChangeCount>(statement, values))) return recordOf(row);
      }
    };
    return this.#sequences.do(JSON.stringify([kind, id]), () => this.#connection.write(attempt));
  }

  delete(kind: string, id: string): Promise<boolean> {
    const attempt = async (isRepeat: boolean): Promise<boolean> =>
      this.#isChanged(kind, await this.#connection.query<ChangeCount>(DELETE, [kind, id])) || isRepeat;
    return this.#sequences.do(JSON.stringify([kind, id]), () => this.#connection.write(attempt));
  }

  async list(kind: string, filter: RecordFilter): Promise<readonly StoredRecord[]> {
    const { owner, after, limit, order = "oldest" } = filter;
    const [beyond, way, start] = order === "oldest" ? [">", "ASC", 0] : ["<", "DESC", Number.MAX_SAFE_INTEGER];
    const place = after === undefined ? start : await this.#place(kind, after);
    if (place === undefined) throw noSuchPlace(kind, after ?? "");
    const values: SqlValue[] = [kind, place, limit];
    const whose = owner === undefined ? "" : "AND owner = $4";
    if (owner !== undefined) values.push(owner);
    const text = `${STORED} WHERE kind = $1 AND number ${beyond} $2 ${whose} ORDER BY number ${way} LIMIT $3`;
    return (await this.#connection.read<Row>({ text }, values)).map(recordOf);
  }

  watch(kind: string, wake: () => void): () => void {
    return this.#wakes.watch("record", kind, { count: this.#changes.get(kind), wake });
  }

  async #place(kind: string, id: string): Promise<number | undefined> {
    const text = "SELECT number FROM record WHERE kind = $1 AND id = $2";
    return (await this.#connection.read<{ number: number }>({ text }, [kind, id]))[0]?.number;
  }

  /** Wakes the watchers of a kind if the statement changed a record; returns whether it did. */
  #isChanged(kind: string, [counted]: readonly ChangeCount[]): boolean {
    if (counted === undefined) return false;
    this.#changes.set(kind, counted.changes);
    this.#wakes.tellChange("record", kind, counted.changes);
    return true;
  }
}

function recordOf({ text, ...rest }: Row): StoredRecord {
  return { ...rest, body: recordBody(text) };
}
