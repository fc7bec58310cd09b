import type { DatabaseSync, StatementSync } from "node:sqlite";
import { STORE_LIMITS } from "@vidro/core";
import { digestOf, signSeal } from "../seal.ts";
import type { PrunedRun, StoreSeal, SealedRecord, SealedRun, SealKey } from "../seal.ts";
import { NO_SEAL, SealMark } from "../seal-mark.ts";
import type { LastSeal } from "../seal-mark.ts";
import type { SqliteConnection, ConnectionMember } from "./connection.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

/** The columns of a run's row that never change. */
export interface RunRowOfSeal {
  readonly id: string;
  readonly owner: string;
  readonly thread: string;
  readonly key: string | null;
  readonly task: string;
  readonly started: number;
}

/** The sealed columns of a record's row. */
export interface RecordRowOfSeal {
  readonly owner: string;
  readonly body: string;
  readonly version: number;
}

/** Digest of the columns of a run's row that never change. */
export function runDigest({ id, owner, thread, key, task, started }: RunRowOfSeal): string {
  return digestOf(id, owner, thread, key, task, started);
}

/** The digest of a record. */
export function recordDigest({ owner, body, version }: RecordRowOfSeal): string {
  return digestOf(owner, body, version);
}

/** Seals committed content: in the commit that ends a run, otherwise soon after; no step waits for it. */
export class SqliteSeals implements ConnectionMember {
  readonly #connection: SqliteConnection;
  readonly #key: SealKey;
  readonly #now: () => number;
  readonly #mark: SealMark;
  /** False when the store lacks the seal that the mark names: the mark is not changed, so that an audit reports it. */
  readonly #isWhole: boolean;
  #isDue = false;
  /** Whether committed content is not sealed yet. */
  #isUnsealed = false;
  /** Whether the seal of the open transaction left more to be sealed. */
  #isMore = false;
  /** Runs that the open transaction deletes. */
  #pruned: PrunedRun[] = [];
  #fresh: LastSeal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #statements!: ReturnType<typeof statementsOf>;

  /** `isRestored`: a person said that the store came from a backup, so it may lack seals. */
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
    // Written before the first seal: a process that dies with it must not look like a store that lost its mark.
    if (marked === undefined && this.#statements.last.get() === undefined) this.#tell(NO_SEAL);
  }

  opened(database: DatabaseSync): void {
    this.#statements = statementsOf(database);
  }

  /** Called when a run ends in this transaction: it is sealed in the same one. */
  ended(): void {
    this.#isDue = true;
  }

  /** Called when a run is deleted in this transaction: the seal of the same one says so. */
  pruned(run: PrunedRun): void {
    this.#pruned.push(run);
    this.#isDue = true;
  }

  begun(): void {
    this.#pruned = [];
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

  /** Content left unsealed by the last commit is sealed by the next process that opens the store. */
  closing(): void {
    this.#waitNoLonger();
  }

  #waitNoLonger(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #sealSoon(): void {
    this.#timer = undefined;
    // A failing disk is reported by the next write of content, which also brings the seal.
    this.#connection.write(() => undefined).catch(() => undefined);
  }

  /** Writes the last seal to the file beside the store. */
  #tell(last: LastSeal): void {
    this.#waitNoLonger();
    if (!this.#isWhole) return;
    try {
      this.#mark.write(last);
    } catch {
      // A mark that names an older seal is still valid.
    }
  }

  /** Writes a seal over everything since the last one; does nothing when there is nothing new. */
  #seal(): LastSeal | undefined {
    const { last, entries, tip, unsealed, record, sealed, insert } = this.#statements;
    const before = last.get();
    const seal: StoreSeal | undefined = before === undefined ? undefined : JSON.parse(before.body);
    const fresh = entries.all(seal?.upTo ?? 0, STORE_LIMITS.sealEntries);
    const changed = unsealed.all(STORE_LIMITS.sealEntries);
    const pruned = this.#pruned;
    this.#isMore = fresh.length === STORE_LIMITS.sealEntries || changed.length === STORE_LIMITS.sealEntries;
    if (fresh.length === 0 && changed.length === 0 && pruned.length === 0) return undefined;
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
    const next: StoreSeal = {
      number,
      previous,
      at: this.#now(),
      upTo,
      runs,
      records,
      ...(pruned.length === 0 ? {} : { pruned }),
    };
    const body = JSON.stringify(next);
    insert.run(number, body, signSeal(this.#key, body));
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
