import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Fault, HAND_LIMITS, isObject, type ActionEnd, type LeaseHolder } from "@vidro/core";
import { closeFileToOthers } from "./files/own-files.ts";
import { OPENING_TABLES, Openings } from "./ledger-openings.ts";

/*
 * Actions that this hand began and how they ended, so that none begins twice. `start` is on disk before the effect,
 * `finish` before the outcome is sent. A refused order is not recorded, because nothing began.
 */

/** Number of starts between two evictions. */
const EVICT_EVERY = 1000;

/** SQLite error codes of a damaged database (SQLITE_CORRUPT) and of a file that is none (SQLITE_NOTADB). */
const DAMAGED: ReadonlySet<unknown> = new Set([11, 26]);

/** Migration scripts: the one at index n leads to version n + 1. A script is never changed. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE action (
    id TEXT PRIMARY KEY,
    payload TEXT NOT NULL,
    tool TEXT NOT NULL,
    host TEXT NOT NULL, boot TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL,
    at INTEGER NOT NULL,
    ended TEXT,
    acked INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX action_by_age ON action (acked DESC, at);
  CREATE TABLE evicted (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
  CREATE TABLE fence (run TEXT PRIMARY KEY, epoch INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;`,
  OPENING_TABLES,
  "ALTER TABLE action ADD COLUMN owner TEXT;",
];

/** The newest version of a ledger that this Vidro knows. */
const VERSION = MIGRATIONS.length;

/** An action that is about to begin. */
export interface ActionStart {
  readonly id: string;
  /** Hash of tool and input; the same id with another payload is refused. */
  readonly payload: string;
  readonly tool: string;
  readonly run: string;
  readonly epoch: number;
  readonly holder: LeaseHolder;
  /** The orderer, on a link that serves several. */
  readonly by?: string;
}

/** The ledger's record of an action. */
export type LedgerEntry =
  | ({ readonly state: "started"; readonly holder: LeaseHolder } & EntryOrigin)
  | FinishedEntry
  | EvictedEntry;

type FinishedEntry = { readonly state: "finished"; readonly ended: ActionEnd } & EntryOrigin;
type EvictedEntry = { readonly state: "evicted" };

interface EntryOrigin {
  readonly payload: string;
  /** The orderer; undefined also for actions from before this was recorded. */
  readonly by?: string;
}

/** Durable record of a hand's actions; every method throws LEDGER_UNWRITABLE when the disk fails. */
export interface Ledger {
  /** The ledger's current mark, unknown to a copy, an older state or a new ledger. */
  readonly mark: string;
  /** Whether the ledger was at this mark once and still has every start since then. */
  knows(mark: string): boolean;
  find(id: string): LedgerEntry | undefined;
  /** The highest epoch that started an action of the run; 0 for an unknown run. */
  epoch(run: string): number;
  /**
   * Durable when it returns true; false when another process started this action or recorded a higher epoch first.
   * For an action that began before and may begin again, `from` is the holder that it is taken over from.
   */
  start(start: ActionStart, from?: LeaseHolder): boolean;
  /** Durable when it returns. A second outcome for the same action is ignored. */
  finish(id: string, ended: ActionEnd): void;
  /** Allows the outcome to be evicted after its retention time; ignored unless `by` ordered the action. */
  acknowledge(id: string, by?: string): void;
  close(): void;
}

/** The key under which the epochs of a run are stored; names of orderers have no slash, so keys cannot collide. */
export function fenceOf(run: string, by: string | undefined): string {
  return by === undefined ? run : `${by}/${run}`;
}

/**
 * Opens the ledger in a file, creating it if missing. Throws STORE_NEWER, LEDGER_UNWRITABLE, or LEDGER_DAMAGED when
 * the file may have lost starts; a damaged file is left as it is.
 */
export function openLedger(path: string, now: () => number = Date.now): Ledger {
  return withLedgerFaults(path, () => new SqliteLedger(path, now));
}

class SqliteLedger implements Ledger {
  readonly #path: string;
  readonly #now: () => number;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #openings: Openings;
  #untilEviction = 0;

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
    closeFileToOthers(path);
    this.#database = new DatabaseSync(path, { timeout: HAND_LIMITS.databaseBusyMs });
    try {
      // Not synced yet: the first start is synced, and with it everything written before.
      this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
      migrate(this.#database);
      checkSound(this.#database, path);
      this.#openings = new Openings(this.#database, path);
      this.#statements = prepare(this.#database);
      this.#database.exec("PRAGMA synchronous = FULL");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get mark(): string {
    return this.#openings.mark;
  }

  knows(mark: string): boolean {
    return withLedgerFaults(this.#path, () => this.#openings.has(mark));
  }

  find(id: string): LedgerEntry | undefined {
    return withLedgerFaults(this.#path, () => {
      const row = this.#statements.find.get(id);
      if (row === undefined) return this.#statements.isEvicted.get(id) && { state: "evicted" };
      const owner = row["owner"];
      const asked = { payload: String(row["payload"]), ...(owner === null ? {} : { by: String(owner) }) };
      if (row["ended"] !== null) {
        const ended: ActionEnd = JSON.parse(String(row["ended"]));
        return { state: "finished", ...asked, ended };
      }
      const holder = {
        host: String(row["host"]),
        boot: String(row["boot"]),
        pid: Number(row["pid"]),
        started: String(row["started"]),
      };
      return { state: "started", ...asked, holder };
    });
  }

  epoch(run: string): number {
    return withLedgerFaults(this.#path, () => Number(this.#statements.epoch.get(run)?.["epoch"] ?? 0));
  }

  start(start: ActionStart, from?: LeaseHolder): boolean {
    return withLedgerFaults(this.#path, () => {
      const at = this.#now();
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        const started = this.epoch(start.run) <= start.epoch && this.#take(start, from, at);
        const counted = started ? this.#openings.count() : undefined;
        if (started) this.#statements.fence.run(start.run, start.epoch, at);
        if (--this.#untilEviction < 0) this.#evict(at);
        this.#database.exec("COMMIT");
        counted?.done();
        return started;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  finish(id: string, ended: ActionEnd): void {
    withLedgerFaults(this.#path, () => this.#statements.finish.run(JSON.stringify(ended), this.#now(), id));
  }

  acknowledge(id: string, by?: string): void {
    withLedgerFaults(this.#path, () => {
      // Not synced: a power cut that loses this only keeps an outcome for longer.
      this.#database.exec("PRAGMA synchronous = NORMAL");
      try {
        this.#statements.acknowledge.run(id, by ?? null);
      } finally {
        this.#database.exec("PRAGMA synchronous = FULL");
      }
    });
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #take({ id, payload, tool, holder, by: owner }: ActionStart, from: LeaseHolder | undefined, at: number): boolean {
    const by = [holder.host, holder.boot, holder.pid, holder.started, at] as const;
    const { changes } =
      from === undefined
        ? this.#statements.start.run(id, payload, tool, ...by, owner ?? null)
        : this.#statements.takeOver.run(...by, id, from.host, from.boot, from.pid, from.started);
    return changes === 1;
  }

  #evict(at: number): void {
    this.#untilEviction = EVICT_EVERY;
    for (const statement of this.#statements.evict) statement.run({ before: at - HAND_LIMITS.ledgerMs, at });
  }
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  const sql = (text: string): StatementSync => database.prepare(text);
  return {
    find: sql("SELECT payload, host, boot, pid, started, ended, owner FROM action WHERE id = ?"),
    isEvicted: sql("SELECT 1 FROM evicted WHERE id = ?"),
    epoch: sql("SELECT epoch FROM fence WHERE run = ?"),
    start: sql(
      `INSERT OR IGNORE INTO action (id, payload, tool, host, boot, pid, started, at, owner)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    takeOver: sql(`UPDATE action SET host = ?, boot = ?, pid = ?, started = ?, at = ?
      WHERE id = ? AND ended IS NULL AND host = ? AND boot = ? AND pid = ? AND started = ?`),
    fence: sql(`INSERT INTO fence (run, epoch, at) VALUES (?, ?, ?)
      ON CONFLICT (run) DO UPDATE SET epoch = max(epoch, excluded.epoch), at = excluded.at`),
    finish: sql("UPDATE action SET ended = ?, at = ? WHERE id = ? AND ended IS NULL"),
    acknowledge: sql("UPDATE action SET acked = 1 WHERE id = ? AND ended IS NOT NULL AND owner IS ?"),
    evict: evictionStatements().map((text) => {
      const statement = sql(text);
      // Each statement uses only some of the parameters.
      statement.setAllowUnknownNamedParameters(true);
      return statement;
    }),
  };
}

/** Evicts acknowledged old entries, then those over the bounds; their ids stay, so that none of them runs again. */
function evictionStatements(): string[] {
  const old = "acked = 1 AND at < :before";
  // Acknowledged entries first, then the oldest; a started entry without an end stays, because it could still run.
  const over = `id IN (SELECT id FROM action WHERE ended IS NOT NULL ORDER BY acked DESC, at
    LIMIT max(0, (SELECT count(*) FROM action) - ${HAND_LIMITS.ledgerEntries}))`;
  const trim = (table: string, bound: number): string => `DELETE FROM ${table} WHERE rowid IN
    (SELECT rowid FROM ${table} ORDER BY at LIMIT max(0, (SELECT count(*) FROM ${table}) - ${bound}))`;
  return [
    ...[old, over].flatMap((which) => [
      `INSERT OR IGNORE INTO evicted (id, at) SELECT id, :at FROM action WHERE ${which}`,
      `DELETE FROM action WHERE ${which}`,
    ]),
    trim("evicted", HAND_LIMITS.evictedEntries),
    trim("fence", HAND_LIMITS.ledgerEntries),
  ];
}

function migrate(database: DatabaseSync): void {
  if (versionOf(database) === VERSION) return;
  // Another process of this hand may migrate at the same time; the version is read again under the lock.
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const script of MIGRATIONS.slice(versionOf(database))) database.exec(script);
    database.exec(`PRAGMA user_version = ${VERSION}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function versionOf(database: DatabaseSync): number {
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version <= VERSION) return version;
  throw new Fault("STORE_NEWER", `The hand's ledger is of version ${version}; this Vidro knows version ${VERSION}.`);
}

/** Throws LEDGER_DAMAGED if pages are lost: actions recorded on a lost page would run again. */
function checkSound(database: DatabaseSync, path: string): void {
  const isLarge = statSync(path).size > HAND_LIMITS.ledgerCheckedBytes;
  const checks = isLarge ? ["(fence)", "(opening)"] : ["(1)"];
  for (const what of checks) {
    const found = database.prepare(`PRAGMA integrity_check${what}`).get()?.["integrity_check"];
    if (found !== "ok") throw damagedFault(path, String(found));
  }
}

function damagedFault(path: string, reason: string, cause?: unknown): Fault {
  return new Fault("LEDGER_DAMAGED", `The ledger ${path} is damaged (${reason}), so nothing is run.`, { cause });
}

function withLedgerFaults<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (isObject(cause) && DAMAGED.has(cause["errcode"])) throw damagedFault(path, reason, cause);
    throw new Fault("LEDGER_UNWRITABLE", `The ledger ${path} cannot be used (${reason}), so nothing is run.`, {
      cause,
    });
  }
}
