import { isDeepStrictEqual } from "node:util";
import { DatabaseSync } from "node:sqlite";
import { Fault, FOLLOW_LIMITS, STORE_LIMITS } from "@vidro/core";
import type { Journal, NewRun, RunHead } from "@vidro/core";
import { thisHolder } from "../lease-holder.ts";
import { postgresStore } from "../postgres.ts";
import { query } from "../sqlite/query.ts";
import type { Store } from "../store.ts";
import { postgresAddress } from "./address.ts";
import { PostgresConnection } from "./connection.ts";
import { openPostgres } from "./open.ts";

/*
 * Copies a store in a file to PostgreSQL. A run keeps its id, entries and hashes, since its chain covers the same bodies
 * in every store; each run is read back and compared. A copy that was interrupted goes on where it was.
 */

/** What was copied. */
export interface CopiedStore {
  readonly runs: number;
  readonly entries: number;
  readonly records: number;
  /** Runs that had not ended. */
  readonly open: number;
}

interface RunRow extends NewRun {
  readonly number: number;
}

interface RecordRow {
  readonly number: number;
  readonly kind: string;
  readonly id: string;
  readonly owner: string;
  readonly body: string;
  readonly version: number;
  readonly created: number;
  readonly updated: number;
}

const INSERT_RECORDS = {
  text: `INSERT INTO record (kind, id, owner, body, version, created, updated)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
    ON CONFLICT DO NOTHING`,
};

/** Copies the store `from`, which is open and lies at `path`, to the database of an address. */
export async function copyToPostgres(from: Store, path: string, address: string): Promise<CopiedStore> {
  using database = new DatabaseSync(path, { readOnly: true });
  // Epochs of leases go on above those of the file, so that hands take orders of the copied runs.
  const to = await postgresStore(address, { restored: true });
  try {
    let [runs, entries, open] = [0, 0, 0];
    for (const { number: _, ...run } of rowsOf<RunRow>(database, "SELECT number, id, owner, thread, key FROM run")) {
      const head = await copyRun(from.journal, to.journal, run);
      runs += 1;
      entries += head.seq;
      if (head.status === "running" || head.status === "asking") open += 1;
    }
    return { runs, entries, open, records: await copyRecords(database, address) };
  } finally {
    await to.close();
  }
}

/** Copies one run and compares the copy; JOURNAL_CORRUPT when its chain is broken or the copy differs. */
async function copyRun(from: Journal, to: Journal, { id, owner, thread, key }: NewRun): Promise<RunHead> {
  const report = await from.verify(id);
  if (report.brokenAt !== undefined)
    throw new Fault("JOURNAL_CORRUPT", `Run ${id} is broken at entry ${report.brokenAt}: ${report.reason ?? ""}`);
  const run = { id, owner, thread, ...(key === undefined || key === null ? {} : { key }) };
  const first = await from.read(id, 0, FOLLOW_LIMITS.batch);
  const known = await to.head(id);
  const lease =
    known === undefined
      ? (await to.create(run, first, thisHolder())).lease
      : await leaseUnlessWhole(to, known, report.entries);
  if (lease !== undefined) {
    for (let after = known?.seq ?? first.length; after < report.entries;) {
      const next = await from.read(id, after, FOLLOW_LIMITS.batch);
      await to.append(lease, next);
      after += next.length;
    }
    await to.release(lease);
  }
  await compareRun(from, to, id);
  const head = await to.head(id);
  if (head === undefined) throw new Fault("JOURNAL_CORRUPT", `Run ${id} is not in the copy.`);
  return head;
}

async function leaseUnlessWhole(to: Journal, { id, seq }: RunHead, entries: number) {
  return seq < entries ? to.lease(id, thisHolder()) : undefined;
}

async function compareRun(from: Journal, to: Journal, run: string): Promise<void> {
  const differs = new Fault("JOURNAL_CORRUPT", `The copy of run ${run} differs from the run.`);
  if ((await to.verify(run)).brokenAt !== undefined) throw differs;
  for (let after = 0; ;) {
    const read = (journal: Journal) => journal.read(run, after, FOLLOW_LIMITS.batch);
    const [ours, theirs] = await Promise.all([read(from), read(to)]);
    if (!isDeepStrictEqual(ours, theirs)) throw differs;
    if (ours.length === 0) return;
    after += ours.length;
  }
}

/** Copies the records with their versions and times; returns how many there are. */
async function copyRecords(database: DatabaseSync, address: string): Promise<number> {
  const { pool, address: reached } = await openPostgres(postgresAddress(address));
  const connection = new PostgresConnection(pool, reached.name);
  try {
    let count = 0;
    let page: RecordRow[] = [];
    const flush = async (): Promise<void> => {
      const column = <Key extends keyof RecordRow>(key: Key): RecordRow[Key][] => page.map((row) => row[key]);
      const texts = [column("kind"), column("id"), column("owner"), column("body")];
      const numbers = [column("version"), column("created"), column("updated")];
      await connection.write(() => connection.query(INSERT_RECORDS, [...texts, ...numbers]));
      count += page.length;
      page = [];
    };
    const columns = "number, kind, id, owner, body, version, created, updated";
    for (const row of rowsOf<RecordRow>(database, `SELECT ${columns} FROM record`)) {
      page.push(row);
      if (page.length === STORE_LIMITS.auditPage) await flush();
    }
    await flush();
    return count;
  } finally {
    await connection.close();
  }
}

/** All rows in the order in which they were made, a page at a time. */
function* rowsOf<Row extends { readonly number: number }>(
  database: DatabaseSync,
  select: string,
): Generator<Row, void> {
  const page = query<Row>(database, `${select} WHERE number > ? ORDER BY number LIMIT ?`);
  for (let after = 0; ;) {
    const rows = page.all(after, STORE_LIMITS.auditPage);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}
