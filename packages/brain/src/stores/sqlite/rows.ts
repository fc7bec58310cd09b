import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Lease, LeaseHolder, NewRun, RunHead, RunStatus } from "@vidro/core";
import type { ChainLink } from "../hash-chain.ts";
import type { PackedBody } from "../parts.ts";
import { noSuchRun } from "../run-rules.ts";
import type { RunFilter, Term } from "../run-rules.ts";
import { PartRows } from "./part-rows.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

/** The end of a run's journal, where the next append goes. */
export interface Tip {
  /** The run's key in the tables. */
  readonly number: number;
  readonly owner: string;
  readonly thread: string;
  readonly epoch: number;
  /** False once the lease was released. */
  readonly held: boolean;
  status: RunStatus;
  seq: number;
  hash: string;
}

/** A run to be written. */
export interface RunRow extends Term {
  readonly run: NewRun;
  readonly task: string;
  readonly status: RunStatus;
  readonly startedAt: number;
}

type StoredBody = Pick<PackedBody, "stored" | "parts">;
type LeaseRow = Omit<Term, "holder"> & { readonly number: number; readonly epoch: number };

const OPEN = "status IN ('running', 'asking')";
const LAST = "entry.run = number AND entry.seq = (SELECT max(seq) FROM entry WHERE entry.run = number)";
// A run whose entries were all deleted is still listed, so that an audit can report it.
const HEAD = `SELECT id, owner, thread, task, status, ifnull(seq, 0) AS seq, started AS startedAt,
  ifnull(at, started) AS updatedAt
  FROM run LEFT JOIN entry ON ${LAST}`;
const NUMBER = "(SELECT number FROM run WHERE id = ?)";
const LINK = "SELECT seq, at, body, lower(hex(hash)) AS hash FROM entry";

/** The tables of the journal as typed calls; each statement is prepared once. */
export class JournalTables {
  readonly #database: DatabaseSync;
  readonly #parts: PartRows;
  readonly #insertRun: StatementSync;
  readonly #insertEntry: StatementSync;
  readonly #setStatus: StatementSync;
  readonly #setLease: StatementSync;
  readonly #setUntil: StatementSync;
  readonly #tip: Query<Omit<Tip, "held"> & { readonly held: number }>;
  readonly #lease: Query<LeaseRow & { readonly holder: string | null }>;
  readonly #head: Query<RunHead>;
  readonly #status: Query<{ readonly status: RunStatus }>;
  readonly #headOfKey: Query<RunHead>;
  readonly #soleHead: Query<RunHead>;
  readonly #links: Query<ChainLink>;
  readonly #holders: Query<{ readonly holder: string }>;
  readonly #undriven: Query<{ readonly id: string }>;
  readonly #lastSeq: Query<{ readonly seq: number | null }>;
  /** Lists by their text, of which there are as many as kinds of filters. */
  readonly #lists = new Map<string, Query<RunHead>>();

  constructor(database: DatabaseSync) {
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#database = database;
    this.#parts = new PartRows(database);
    this.#insertRun = prepare(
      `INSERT INTO run (id, owner, thread, key, sole, task, status, started, epoch, holder, until)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`,
    );
    this.#insertEntry = prepare("INSERT INTO entry (run, seq, at, body, hash) VALUES (?, ?, ?, ?, unhex(?))");
    this.#setStatus = prepare("UPDATE run SET status = ? WHERE number = ?");
    this.#setLease = prepare("UPDATE run SET epoch = ?, holder = ?, until = ? WHERE number = ?");
    this.#setUntil = prepare("UPDATE run SET until = ? WHERE id = ? AND epoch = ? AND holder IS NOT NULL");
    this.#tip = query(
      database,
      `SELECT number, owner, thread, epoch, holder IS NOT NULL AS held, status,
        ifnull(seq, 0) AS seq, ifnull(lower(hex(hash)), '') AS hash
      FROM run LEFT JOIN entry ON ${LAST} WHERE id = ?`,
    );
    this.#lease = query(database, "SELECT number, epoch, holder, until FROM run WHERE id = ?");
    this.#head = query(database, `${HEAD} WHERE id = ?`);
    this.#status = query(database, "SELECT status FROM run WHERE id = ?");
    this.#headOfKey = query(database, `${HEAD} WHERE owner = ? AND key = ?`);
    this.#soleHead = query(database, `${HEAD} WHERE owner = ? AND sole = ? AND ${OPEN}`);
    this.#links = query(database, `${LINK} WHERE run = ${NUMBER} AND seq >= ? ORDER BY seq LIMIT ?`);
    this.#holders = query(database, `SELECT DISTINCT holder FROM run WHERE ${OPEN} AND holder IS NOT NULL`);
    this.#undriven = query(
      database,
      `SELECT id FROM run
      WHERE ${OPEN} AND (holder IS NULL OR until <= ? OR holder IN (SELECT value FROM json_each(?)))
      ORDER BY number LIMIT ?`,
    );
    this.#lastSeq = query(database, `SELECT max(seq) AS seq FROM entry WHERE run = ${NUMBER}`);
  }

  /** Inserts a run with its first lease; returns its key in the tables. */
  insertRun(row: RunRow): number {
    const { run, task, status, startedAt, holder, until } = row;
    const written = this.#insertRun.run(
      run.id,
      run.owner,
      run.thread,
      run.key ?? null,
      run.sole ?? null,
      task,
      status,
      startedAt,
      holder === undefined ? null : JSON.stringify(holder),
      until,
    );
    return Number(written.lastInsertRowid);
  }

  /** Writes the entry at the tip of a run, and its parts that are not there yet. */
  insertEntry({ number, seq, hash }: Tip, { at, stored, parts }: StoredBody & { readonly at: number }): void {
    this.#insertEntry.run(number, seq, at, stored, hash);
    if (parts.size > 0) this.#parts.keep(number, parts);
  }

  /** Updates the status of a run. */
  setStatus(run: number, status: RunStatus): void {
    this.#setStatus.run(status, run);
  }

  /** The tip of a run. */
  tip(run: string): Tip | undefined {
    const row = this.#tip.get(run);
    return row && { ...row, held: row.held === 1 };
  }

  /** The lease on a run. */
  lease(run: string): (LeaseRow & Term) | undefined {
    const row = this.#lease.get(run);
    if (row === undefined) return undefined;
    const holder: LeaseHolder | undefined = row.holder === null ? undefined : JSON.parse(row.holder);
    return { ...row, holder };
  }

  /** Open runs whose lease was released, has expired at `now`, or whose holder is not alive; oldest first. */
  undriven(now: number, mayLive: (holder: LeaseHolder) => boolean, limit: number): readonly string[] {
    const holders = this.#holders.all().map(({ holder }) => holder);
    const dead = holders.filter((holder) => !mayLive(JSON.parse(holder)));
    return this.#undriven.all(now, JSON.stringify(dead), limit).map(({ id }) => id);
  }

  /** Writes the lease of a run. */
  setLease(run: number, epoch: number, term: Term): void {
    this.#setLease.run(epoch, term.holder === undefined ? null : JSON.stringify(term.holder), term.until, run);
  }

  /** Extends a lease; false when it does not hold. */
  prolong(lease: Lease, until: number): boolean {
    return this.#setUntil.run(until, lease.run, lease.epoch).changes === 1;
  }

  /** A run as it is listed. */
  head(run: string): RunHead | undefined {
    return this.#head.get(run);
  }

  /** The last `seq` and status in the row of a run. */
  status(run: string): RunStatus | undefined {
    return this.#status.get(run)?.status;
  }

  /** The run that the key of a new run belongs to, or else the open one that has its `sole`. */
  knownHead({ owner, key, sole }: NewRun): RunHead | undefined {
    const ofKey = key === undefined ? undefined : this.#headOfKey.get(owner, key);
    return ofKey ?? (sole === undefined ? undefined : this.#soleHead.get(owner, sole));
  }

  /** Runs, newest first. */
  list(filter: RunFilter): RunHead[] {
    const conditions: string[] = [];
    const values: SQLInputValue[] = [];
    if (filter.open !== undefined) conditions.push(filter.open ? OPEN : `NOT (${OPEN})`);
    for (const column of ["owner", "thread"] as const) {
      const value = filter[column];
      if (value === undefined) continue;
      // Few runs are open, and the index of an owner has all that have ended, too: the plus keeps it out of the search.
      conditions.push(column === "owner" && filter.open === true ? "+owner = ?" : `${column} = ?`);
      values.push(value);
    }
    if (filter.ending !== undefined) {
      conditions.push("substr(id, -length(?)) = ?");
      values.push(filter.ending, filter.ending);
    }
    if (filter.after !== undefined) {
      const place = this.#lease.get(filter.after);
      if (place === undefined) throw noSuchRun(filter.after);
      conditions.push("number < ?");
      values.push(place.number);
    }
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    return this.#listWhere(where).all(...values, filter.limit);
  }

  #listWhere(where: string): Query<RunHead> {
    const known = this.#lists.get(where);
    if (known !== undefined) return known;
    const heads = query<RunHead>(this.#database, `${HEAD} ${where} ORDER BY number DESC LIMIT ?`);
    this.#lists.set(where, heads);
    return heads;
  }

  /** The entries of a run from `seq` on, at most `limit`. */
  links(run: string, seq: number, limit: number): ChainLink[] {
    return this.#parts.whole(this.#links.all(run, seq, limit));
  }

  /** The last `seq` of a run; 0 when there is none. */
  lastSeq(run: string): number {
    return this.#lastSeq.get(run)?.seq ?? 0;
  }
}
