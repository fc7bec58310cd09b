import { STORE_LIMITS } from "@vidro/core";
import type { RunSealReport } from "@vidro/core";
import { digestOf, isSealSignature } from "../seal.ts";
import type { PrunedRun, StoreSeal, SealedRun, SealKey } from "../seal.ts";
import { NO_SEAL, SealMark } from "../seal-mark.ts";
import type { SqliteConnection } from "./connection.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";
import { recordDigest, runDigest } from "./seals.ts";
import type { RecordRowOfSeal, RunRowOfSeal } from "./seals.ts";
import type { Audit, SealReport } from "../store.ts";

type Tell = (finding: string) => void;

interface SealRow {
  readonly number: number;
  readonly body: string;
  readonly signature: Uint8Array;
}

/** Audits a store in a file against its seals. */
export function sqliteAudit(connection: SqliteConnection, path: string, key: SealKey): Audit {
  const inSnapshot = <Result>(work: () => Result): Result =>
    connection.look(() => {
      const { database } = connection;
      // One snapshot of the store while other processes go on writing.
      database.exec("BEGIN");
      try {
        return work();
      } finally {
        database.exec("COMMIT");
      }
    });
  return {
    check: (tell) => inSnapshot(() => new Check(connection, key, tell).all(new SealMark(path))),
    checkRun: (run, tell) => inSnapshot(() => new Check(connection, key, tell).one(run)),
  };
}

/** One pass over the seals of a store and everything that they cover. */
class Check {
  readonly #connection: SqliteConnection;
  readonly #key: SealKey;
  readonly #tell: Tell;
  readonly #run: Query<RunRowOfSeal & { readonly number: number }>;
  readonly #entry: Query<{ readonly hash: string }>;
  /** Runs that were deleted because they need not be kept longer: the last entry of each. */
  readonly #pruned = new Map<string, PrunedRun>();
  /** Runs with a finding; later seals would repeat it. */
  readonly #told = new Set<string>();
  /** Digest of each record in its last seal; undefined when it was deleted. */
  readonly #records = new Map<string, string | null>();
  #last: { readonly number: number; readonly digest: string; readonly upTo: number; readonly at: number } | undefined;

  constructor(connection: SqliteConnection, key: SealKey, tell: Tell) {
    this.#connection = connection;
    this.#key = key;
    this.#tell = tell;
    const { database } = connection;
    this.#run = query(database, "SELECT number, id, owner, thread, key, task, started FROM run WHERE id = ?");
    this.#entry = query(database, "SELECT lower(hex(hash)) AS hash FROM entry WHERE run = ? AND seq = ?");
  }

  all(mark: SealMark): SealReport {
    const marked = mark.read();
    this.#collectPruned();
    let digestOfMarked: string | undefined;
    for (const row of this.#pages<SealRow>("SELECT number, body, signature FROM seal", "number")) {
      this.#checkSeal(row);
      if (row.number === marked?.number) digestOfMarked = digestOf(row.body);
    }
    if (marked !== undefined && marked.number !== NO_SEAL.number && digestOfMarked !== marked.digest)
      this.#tell(`seal ${marked.number} is missing or another one: the store was rolled back, replaced or cut off`);
    if (marked === undefined && this.#last !== undefined)
      this.#tell("the file beside the store that names its last seal is missing, so that a rollback would not show");
    const unsealedRecords = this.#checkRecords();
    return {
      seals: this.#last?.number ?? 0,
      key: this.#key.fingerprint,
      at: this.#last?.at,
      unsealedEntries: this.#count("SELECT count(*) AS count FROM entry WHERE rowid > ?", this.#last?.upTo ?? 0),
      unsealedRecords,
    };
  }

  one(run: string): RunSealReport {
    const found = query<SealRow>(
      this.#connection.database,
      "SELECT number, body, signature FROM seal WHERE instr(body, ?) > 0 ORDER BY number",
    );
    let [seals, upTo, at]: [number, number, number | undefined] = [0, 0, undefined];
    for (const { number, body, signature } of found.all(JSON.stringify(run))) {
      if (!this.#isSigned({ number, body, signature })) continue;
      const seal: StoreSeal = JSON.parse(body);
      const sealed = seal.runs.filter(({ id }) => id === run);
      if (sealed.length === 0) continue;
      for (const one of sealed) this.#checkRun(one, number);
      [seals, upTo, at] = [seals + 1, Math.max(upTo, ...sealed.map(({ seq }) => seq)), seal.at];
    }
    return { seals, key: this.#key.fingerprint, upTo, at };
  }

  /** Reads which runs signed seals say were deleted; a seal with a wrong signature says nothing. */
  #collectPruned(): void {
    for (const { body, signature } of this.#pages<SealRow>("SELECT number, body, signature FROM seal", "number")) {
      if (!body.includes('"pruned":') || !isSealSignature(this.#key, body, signature)) continue;
      const { pruned = [] }: StoreSeal = JSON.parse(body);
      for (const run of pruned) this.#pruned.set(run.id, run);
    }
  }

  #checkSeal({ number, body, signature }: SealRow): void {
    const expected = (this.#last?.number ?? 0) + 1;
    if (number !== expected) this.#tell(`seal ${expected} is missing; ${number} comes next`);
    if (!this.#isSigned({ number, body, signature })) return;
    const seal: StoreSeal = JSON.parse(body);
    if (seal.number !== number || seal.previous !== (this.#last?.digest ?? ""))
      this.#tell(`seal ${number} does not follow the one before it`);
    for (const run of seal.runs) this.#checkRun(run, number);
    for (const { kind, id, digest } of seal.records) this.#records.set(nameOf(kind, id), digest);
    this.#last = { number, digest: digestOf(body), upTo: seal.upTo, at: seal.at };
  }

  /** Whether a seal is signed, and tells when it is not; what another wrote may be no JSON at all. */
  #isSigned({ number, body, signature }: SealRow): boolean {
    if (isSealSignature(this.#key, body, signature)) return true;
    this.#tell(`seal ${number} is not signed with the key of this home (SHA-256 ${this.#key.fingerprint})`);
    return false;
  }

  #checkRun(sealed: SealedRun, seal: number): void {
    const reason = this.#told.has(sealed.id) ? undefined : this.#whyAltered(sealed, seal);
    if (reason === undefined) return;
    this.#told.add(sealed.id);
    this.#tell(`run ${sealed.id} ${reason}`);
  }

  #whyAltered({ id, seq, hash, row }: SealedRun, seal: number): string | undefined {
    const found = this.#run.get(id);
    if (found === undefined) return this.#whyGone({ id, seq, hash }, seal);
    if (runDigest(found) !== row) return `has another owner, thread, key or task than in seal ${seal}`;
    const entry = this.#entry.get(found.number, seq);
    if (entry === undefined) return `ends before entry ${seq}, which seal ${seal} has`;
    return entry.hash === hash ? undefined : `was written anew: entry ${seq} is not the one of seal ${seal}`;
  }

  /** Why a sealed run that is not in the store was not pruned; a pruned one ended at or after its sealed entry. */
  #whyGone({ id, seq, hash }: PrunedRun, seal: number): string | undefined {
    const pruned = this.#pruned.get(id);
    if (pruned === undefined) return `is missing, which seal ${seal} has`;
    const isSame = pruned.seq > seq || (pruned.seq === seq && pruned.hash === hash);
    return isSame ? undefined : `was pruned at entry ${pruned.seq}, which is not the one of seal ${seal}`;
  }

  /** Checks the records, and counts those that changed since they were sealed. */
  #checkRecords(): number {
    const waiting = new Set<string>();
    for (const { kind, id } of this.#pages<{ number: number; kind: string; id: string }>(
      "SELECT number, kind, id FROM record_unsealed",
      "number",
    ))
      waiting.add(nameOf(kind, id));
    for (const row of this.#pages<RecordRowOfSeal & { number: number; kind: string; id: string }>(
      "SELECT number, kind, id, owner, body, version FROM record",
      "number",
    )) {
      const name = nameOf(row.kind, row.id);
      const sealed = this.#records.get(name);
      this.#records.delete(name);
      if (waiting.has(name)) continue;
      if (sealed === undefined || sealed === null)
        this.#tell(`record ${row.kind} ${row.id} was added behind the seals`);
      else if (sealed !== recordDigest(row)) this.#tell(`record ${row.kind} ${row.id} is not what was sealed`);
    }
    for (const [name, sealed] of this.#records) {
      const [kind, id]: string[] = JSON.parse(name);
      if (sealed !== null && !waiting.has(name)) this.#tell(`record ${kind} ${id} is missing, which a seal has`);
    }
    return waiting.size;
  }

  #count(sql: string, ...values: readonly number[]): number {
    return query<{ readonly count: number }>(this.#connection.database, sql).get(...values)?.count ?? 0;
  }

  /** All rows in the order of a numeric column, a page at a time. */
  *#pages<Row extends { readonly number: number }>(select: string, by: string): Generator<Row, void, undefined> {
    const page = query<Row>(this.#connection.database, `${select} WHERE ${by} > ? ORDER BY ${by} LIMIT ?`);
    for (let after = 0; ;) {
      const rows = page.all(after, STORE_LIMITS.auditPage);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.number;
    }
  }
}

function nameOf(kind: string, id: string): string {
  return JSON.stringify([kind, id]);
}
