import { asFault, Fault, isSameProcess, STORE_LIMITS } from "@vidro/core";
import type { Entry, Journal, Lease, LeaseHolder, NewRecord, NewRun, RunHead } from "@vidro/core";
import { mayLive } from "../lease-holder.ts";
import { chainCheck, linkHash, ROOT } from "../hash-chain.ts";
import type { Damage } from "../damage.ts";
import { packEvent } from "../parts.ts";
import type { SqliteConnection } from "./connection.ts";
import { isCorrupt } from "./fault.ts";
import { JournalTables } from "./rows.ts";
import type { Tip } from "./rows.ts";
import { Salvage } from "./salvage.ts";
import { verifyChain } from "./verify.ts";
import { SqliteWatchers } from "./watchers.ts";
import { recordText } from "../record-rules.ts";
import {
  advance,
  idTaken,
  isOpen,
  isUndriven,
  leaseLost,
  noSuchRun,
  openingOf,
  refuseUnlessFree,
  termEnd,
} from "../run-rules.ts";
import type { RunFilter } from "../run-rules.ts";
import { parseEvent } from "../stored-event.ts";
import type { ChainReport } from "../stored-event.ts";

/** Options of the journal. */
interface SqliteJournalOptions {
  readonly now: () => number;
  /** Collects runs that cannot be read. */
  readonly damage: Damage;
  /** Lowest epoch of a new lease. */
  readonly floor: number;
  /** Called in the transaction in which a run ends. */
  readonly ended: () => void;
  /** Called in the transaction that writes entries of a run. */
  readonly wrote: (run: Pick<NewRun, "owner" | "thread">, entries: readonly Entry[]) => void;
  /** Makes a record, given with its text, in the transaction that writes entries. */
  readonly make: (record: NewRecord, text: string) => void;
}

/** The journal in a database that it shares with other parts. */
export function sqliteJournal(connection: SqliteConnection, options: SqliteJournalOptions): Journal {
  return new SqliteJournal(connection, options);
}

class SqliteJournal implements Journal {
  readonly #connection: SqliteConnection;
  readonly #now: () => number;
  /** Lowest epoch of a new lease. */
  readonly #floor: number;
  #rows!: JournalTables;
  readonly #watchers: SqliteWatchers;
  /** Cached tips of runs that this process appended to; valid until another connection commits. */
  readonly #tips = new Map<string, Tip>();
  /** Runs that the open transaction touched. */
  readonly #touched = new Map<string, number>();
  readonly #damage: Damage;
  readonly #ended: () => void;
  readonly #wrote: SqliteJournalOptions["wrote"];
  readonly #make: SqliteJournalOptions["make"];
  #tipsVersion!: number;

  constructor(connection: SqliteConnection, { now, damage, floor, ended, wrote, make }: SqliteJournalOptions) {
    this.#connection = connection;
    this.#now = now;
    this.#damage = damage;
    this.#floor = floor;
    this.#ended = ended;
    this.#wrote = wrote;
    this.#make = make;
    this.#watchers = new SqliteWatchers(connection, (run) => this.#rows.lastSeq(run));
    connection.join({
      opened: (database) => {
        this.#rows = new JournalTables(database);
        this.#tipsVersion = connection.version();
        this.#forget();
      },
      begun: () => this.#forgetIfForeign(),
      undone: () => this.#forget(),
      committed: () => this.#wake(),
    });
  }

  async create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }> {
    const beside = (run.beside ?? []).map((record) => [record, recordText(record)] as const);
    return this.#connection.write(() => {
      const known = this.#rows.knownHead(run);
      if (known !== undefined && known.id !== run.id) return { head: known };
      if (this.#rows.lease(run.id) !== undefined) return this.#madeBefore(run.id, entries, holder);
      const { first, task } = openingOf(run.id, entries);
      const status = advance(run.id, { seq: ROOT.seq, status: "running" }, entries);
      const until = termEnd(this.#now());
      const number = this.#rows.insertRun({ run, task, status, startedAt: first.at, holder, until });
      const { id, owner, thread } = run;
      const tip: Tip = { number, owner, thread, epoch: 1, held: true, status, seq: ROOT.seq, hash: ROOT.hash };
      this.#remember(run.id, tip);
      this.#extend(run.id, tip, entries);
      this.#wrote(run, entries);
      for (const made of beside) this.#make(...made);
      const updatedAt = entries.at(-1)?.at ?? first.at;
      const head = { id, owner, thread, task, status, seq: tip.seq, startedAt: first.at, updatedAt };
      return { head, lease: { run: run.id, epoch: 1 } };
    });
  }

  async append(lease: Lease, entries: readonly Entry[], beside: readonly NewRecord[] = []): Promise<void> {
    return this.#connection.write(() => {
      const tip = this.#tip(lease.run);
      if (tip === undefined || tip.epoch !== lease.epoch) throw leaseLost(lease.run);
      const known = this.#writtenBefore(lease.run, tip, entries);
      if (known === entries.length) return;
      if (!tip.held) throw leaseLost(lease.run);
      const fresh = known === 0 ? entries : entries.slice(known);
      const status = advance(lease.run, tip, fresh);
      // Before anything is written: a record may be too large.
      const made = beside.map((record) => [record, recordText(record)] as const);
      this.#extend(lease.run, tip, fresh);
      this.#wrote(tip, fresh);
      for (const record of made) this.#make(...record);
      if (status === tip.status) return;
      this.#rows.setStatus(tip.number, status);
      if (!isOpen(status)) this.#ended();
      tip.status = status;
    });
  }

  async read(run: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#ofRun(run, () => {
      // The entry before the first one is read too: the check begins with its hash.
      const links = this.#rows.links(run, after, limit + 1);
      const before = links[0]?.seq === after ? links.shift() : undefined;
      if (before === undefined && links.length === 0 && this.#rows.lease(run) === undefined) throw noSuchRun(run);
      const check = chainCheck(run, before ?? { seq: Math.max(after, 1) - 1, hash: ROOT.hash });
      return links.slice(0, limit).map((link) => {
        const reason = check(link);
        if (reason !== undefined) throw new Fault("JOURNAL_CORRUPT", `The journal of run ${run} is broken: ${reason}.`);
        return { seq: link.seq, at: link.at, event: parseEvent(run, link) };
      });
    });
  }

  async head(run: string): Promise<RunHead | undefined> {
    return this.#ofRun(run, () => this.#rows.head(run));
  }

  async list(filter: RunFilter): Promise<readonly RunHead[]> {
    return this.#connection.look(() => {
      try {
        return this.#rows.list(filter);
      } catch (thrown) {
        if (!isCorrupt(thrown)) throw thrown;
        return new Salvage(this.#connection.database, this.#damage).list(filter);
      }
    });
  }

  async undriven(limit: number): Promise<readonly string[]> {
    return this.#connection.look(() => {
      try {
        return this.#rows.undriven(this.#now(), mayLive, limit);
      } catch (thrown) {
        if (!isCorrupt(thrown)) throw thrown;
        const open = new Salvage(this.#connection.database, this.#damage).list({ open: true, limit });
        return open.flatMap(({ id }) => (this.#isFree(id) ? [id] : [])).reverse();
      }
    });
  }

  async lease(run: string, holder: LeaseHolder): Promise<Lease> {
    return this.#connection.write(() => {
      const held = this.#rows.lease(run);
      if (held === undefined) throw noSuchRun(run);
      refuseUnlessFree(run, held, { asker: holder, now: this.#now() });
      const epoch = Math.max(held.epoch + 1, this.#floor);
      this.#rows.setLease(held.number, epoch, { holder, until: termEnd(this.#now()) });
      this.#tips.delete(run);
      return { run, epoch };
    });
  }

  async renew(lease: Lease): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#rows.prolong(lease, termEnd(this.#now()))) throw leaseLost(lease.run);
    });
  }

  async release(lease: Lease): Promise<void> {
    return this.#connection.write(() => {
      const held = this.#rows.lease(lease.run);
      if (held?.epoch !== lease.epoch) return;
      this.#rows.setLease(held.number, held.epoch, { holder: undefined, until: 0 });
      this.#tips.delete(lease.run);
    });
  }

  watch(run: string, wake: () => void): () => void {
    return this.#watchers.add(run, wake);
  }

  async verify(run: string): Promise<ChainReport> {
    return this.#ofRun(run, () => {
      const report = verifyChain(run, this.#rows);
      if (report.brokenAt !== undefined) this.#damage.note(run, report.reason ?? "the chain is broken");
      return report;
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** The run that an earlier attempt at the same call made; CONFLICT when it differs. */
  #madeBefore(run: string, entries: readonly Entry[], holder: LeaseHolder): { head: RunHead; lease: Lease } {
    const held = this.#rows.lease(run);
    const head = this.#rows.head(run);
    const isSame = held?.epoch === 1 && held.holder !== undefined && isSameProcess(held.holder, holder);
    if (head?.seq !== entries.length || !isSame || !this.#isKept(run, entries)) throw idTaken(run);
    return { head, lease: { run, epoch: 1 } };
  }

  /** Number of entries that an earlier attempt has written, byte for byte. */
  #writtenBefore(run: string, tip: Tip, entries: readonly Entry[]): number {
    const [first] = entries;
    if (first === undefined || first.seq > tip.seq) return 0;
    const known = entries.slice(0, tip.seq - first.seq + 1);
    return this.#isKept(run, known) ? known.length : 0;
  }

  #isKept(run: string, entries: readonly Entry[]): boolean {
    const links = this.#rows.links(run, entries[0]?.seq ?? 0, entries.length);
    return entries.every(({ seq, at, event }, index) => {
      const link = links[index];
      return link?.seq === seq && link.at === at && link.body === JSON.stringify(event);
    });
  }

  /** Whether no process drives a run; false for a run whose row cannot be read. */
  #isFree(run: string): boolean {
    try {
      const term = this.#rows.lease(run);
      return term !== undefined && isUndriven(term, this.#now());
    } catch {
      return false;
    }
  }

  /** Reads one run; damage is remembered and thrown as JOURNAL_CORRUPT. */
  #ofRun<Result>(run: string, work: () => Result): Result {
    try {
      return this.#connection.look(work);
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      if (code !== "JOURNAL_CORRUPT") throw thrown;
      this.#damage.note(run, message);
      throw message.includes(run)
        ? thrown
        : new Fault(code, `The journal of run ${run} cannot be read: ${message}`, { cause: thrown });
    }
  }

  #tip(run: string): Tip | undefined {
    const known = this.#tips.get(run);
    if (known !== undefined) return known;
    const tip = this.#rows.tip(run);
    if (tip !== undefined) this.#remember(run, tip);
    return tip;
  }

  #remember(run: string, tip: Tip): void {
    const [oldest] = this.#tips.size >= STORE_LIMITS.heads ? this.#tips.keys() : [];
    if (oldest !== undefined) this.#tips.delete(oldest);
    this.#tips.set(run, tip);
  }

  #extend(run: string, tip: Tip, entries: readonly Entry[]): void {
    for (const { seq, at, event } of entries) {
      const { body, stored, parts } = packEvent(event);
      tip.hash = linkHash(run, tip.hash, { seq, at, body });
      tip.seq = seq;
      this.#rows.insertEntry(tip, { at, stored, parts });
    }
    this.#touched.set(run, tip.seq);
  }

  #forgetIfForeign(): void {
    const version = this.#connection.version();
    if (version === this.#tipsVersion) return;
    this.#tipsVersion = version;
    this.#tips.clear();
  }

  #forget(): void {
    this.#tips.clear();
    this.#touched.clear();
  }

  #wake(): void {
    for (const [run, seq] of this.#touched) this.#watchers.tell(run, seq);
    this.#touched.clear();
  }
}
