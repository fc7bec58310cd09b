import type { DatabaseSync, StatementSync } from "node:sqlite";
import { STORE_LIMITS } from "@vidro/core";
import { digestOf, signed } from "./seal.ts";
import type { StoreSeal, SealedRecord, SealedRun, SealKey } from "./seal.ts";
import { NO_SEAL, SealMark } from "./seal-mark.ts";
import type { LastSeal } from "./seal-mark.ts";
import type { SqliteConnection, ConnectionMember } from "./sqlite-connection.ts";
import { query } from "./sqlite-rows.ts";
import type { Query } from "./sqlite-rows.ts";

/** What a row of the table of runs says that never changes. */
export interface RunRowOfSeal {
  readonly id: string;
  readonly owner: string;
  readonly thread: string;
  readonly key: string | null;
  readonly task: string;
  readonly started: number;
}

/** What a row of the table of records says. */
export interface RecordRowOfSeal {
  readonly owner: string;
  readonly body: string;
  readonly version: number;
}

/** The digest of what never changes in a run's row. */
export function runDigest({ id, owner, thread, key, task, started }: RunRowOfSeal): string {
  return digestOf(id, owner, thread, key, task, started);
}

/** The digest of a record. */
export function recordDigest({ owner, body, version }: RecordRowOfSeal): string {
  return digestOf(owner, body, version);
}

/** Seals what is committed: in the commit that ends a run, and else soon after; no step waits for it. */
export class SqliteSeals implements ConnectionMember {
  readonly #connection: SqliteConnection;
  readonly #key: SealKey;
  readonly #now: () => number;
  readonly #mark: SealMark;
  /** False when the store lacks the seal that the mark names: the mark stays as it is, so that an audit can tell. */
  readonly #isWhole: boolean;
  #isDue = false;
  /** Something was committed that no seal looked at. */
  #isUnsealed = false;
  /** What the open transaction sealed left more to be sealed. */
  #isMore = false;
  #fresh: LastSeal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #statements!: ReturnType<typeof statementsOf>;

  /** `isRestored`: a person says that the store came back from a backup, so that it may lack seals. */
  constructor(
    connection: SqliteConnection,
    options: { path: string; key: SealKey; now: () => number; isRestored: boolean },
  ) {
    this.#connection = connection;
    this.#key = options.key;
    this.#now = options.now;
    this.#mark = new SealMark(options.path);
    connection.join(this);
    const marked = this.#mark.read();
    this.#isWhole = options.isRestored || this.#hasMarked(marked);
    // Named before there is one: a process that dies with its first seal must not look like a store that lost its mark.
    if (marked === undefined && this.#statements.last.get() === undefined) this.#tell(NO_SEAL);
  }

  opened(database: DatabaseSync): void {
    this.#statements = statementsOf(database);
  }

  /** A run ended in this transaction: it is sealed with it. */
  ended(): void {
    this.#isDue = true;
  }

  begun(): void {
    this.#isDue = this.#timer === undefined && this.#isUnsealed;
  }

  undone(): void {
    this.#fresh = undefined;
  }

  committing(): void {
    this.#fresh = this.#isDue ? this.#seal() : undefined;
  }

  committed(): void {
    if (this.#fresh !== undefined) this.#tell(this.#fresh);
    this.#isUnsealed = !this.#isDue || this.#isMore;
    this.#fresh = undefined;
    if (this.#isUnsealed) this.#timer ??= setTimeout(() => this.#sealSoon(), STORE_LIMITS.sealMs).unref();
  }

  leaving(): void {
    this.#waitNoLonger();
  }

  /** What the last commit left unsealed is sealed by the next process that opens the store. */
  closing(): void {
    this.#waitNoLonger();
  }

  #waitNoLonger(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #sealSoon(): void {
    this.#timer = undefined;
    // Whoever has something to keep is told of a disk that fails; the seal comes with what is written next.
    this.#connection.write(() => undefined).catch(() => undefined);
  }

  /** Names the last seal in the file beside the store. */
  #tell(last: LastSeal): void {
    this.#waitNoLonger();
    if (!this.#isWhole) return;
    try {
      this.#mark.write(last);
    } catch {
      // A mark that names an older seal is still true.
    }
  }

  /** Writes a seal over what came since the last one; nothing when nothing did. */
  #seal(): LastSeal | undefined {
    const { last, entries, tip, unsealed, record, sealed, insert } = this.#statements;
    const before = last.get();
    const seal: StoreSeal | undefined = before === undefined ? undefined : JSON.parse(before.body);
    const fresh = entries.all(seal?.upTo ?? 0, STORE_LIMITS.sealEntries);
    const changed = unsealed.all(STORE_LIMITS.sealEntries);
    this.#isMore = fresh.length === STORE_LIMITS.sealEntries || changed.length === STORE_LIMITS.sealEntries;
    if (fresh.length === 0 && changed.length === 0) return undefined;
    const runs = [...new Set(fresh.map(({ run }) => run))].flatMap((run): SealedRun[] => {
      const row = tip.get(run);
      return row === undefined ? [] : [{ id: row.id, seq: row.seq, hash: row.hash, row: runDigest(row) }];
    });
    const names = new Map(changed.map(({ kind, id }) => [JSON.stringify([kind, id]), { kind, id }]));
    const records = [...names.values()].map(({ kind, id }): SealedRecord => {
      const row = record.get(kind, id);
      return { kind, id, digest: row === undefined ? null : recordDigest(row) };
    });
    const number = (seal?.number ?? 0) + 1;
    const previous = before === undefined ? "" : digestOf(before.body);
    const upTo = fresh.at(-1)?.place ?? seal?.upTo ?? 0;
    const next: StoreSeal = { number, previous, at: this.#now(), upTo, runs, records };
    const body = JSON.stringify(next);
    insert.run(number, body, signed(this.#key, body));
    sealed.run(changed.at(-1)?.number ?? 0);
    return { number, digest: digestOf(body) };
  }

  #hasMarked(marked: LastSeal | undefined): boolean {
    if (marked === undefined || marked.number === NO_SEAL.number) return true;
    const row = this.#statements.at.get(marked.number);
    return row !== undefined && digestOf(row.body) === marked.digest;
  }
}

function statementsOf(database: DatabaseSync) {
  const insert: StatementSync = database.prepare("INSERT INTO seal (number, body, signature) VALUES (?, ?, ?)");
  const sealed: StatementSync = database.prepare("DELETE FROM record_unsealed WHERE number <= ?");
  const last: Query<{ readonly body: string }> = query(database, "SELECT body FROM seal ORDER BY number DESC LIMIT 1");
  const at: Query<{ readonly body: string }> = query(database, "SELECT body FROM seal WHERE number = ?");
  const entries: Query<{ readonly place: number; readonly run: number }> = query(
    database,
    "SELECT rowid AS place, run FROM entry WHERE rowid > ? ORDER BY rowid LIMIT ?",
  );
  const tip: Query<RunRowOfSeal & { readonly seq: number; readonly hash: string }> = query(
    database,
    `SELECT id, owner, thread, key, task, started, seq, lower(hex(hash)) AS hash FROM run JOIN entry ON entry.run = number
    WHERE number = ? ORDER BY seq DESC LIMIT 1`,
  );
  const unsealed: Query<{ readonly number: number; readonly kind: string; readonly id: string }> = query(
    database,
    "SELECT number, kind, id FROM record_unsealed ORDER BY number LIMIT ?",
  );
  const record: Query<RecordRowOfSeal> = query(
    database,
    "SELECT owner, body, version FROM record WHERE kind = ? AND id = ?",
  );
  return { insert, sealed, last, at, entries, tip, unsealed, record };
}
