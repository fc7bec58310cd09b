import type { DatabaseSync } from "node:sqlite";
import { Fault, FOLLOW, STORE } from "@vidro/core";
import type { Entry, Event, FaultCode, Journal, Lease, LeaseHolder, NewRun, RunHead, RunStatus } from "@vidro/core";
import { chainCheck, linkHash, ROOT } from "./chain.ts";
import type { Link } from "./chain.ts";
import { GroupCommit } from "./group-commit.ts";
import { storeFault } from "./sqlite-fault.ts";
import { openDatabase } from "./sqlite-open.ts";
import { Rows } from "./sqlite-rows.ts";
import type { Tip } from "./sqlite-rows.ts";
import { advance, idTaken, leaseLost, noSuchRun, opening, refuseUnlessFree, statusAfter, termEnd } from "./standing.ts";
import type { JournalOptions } from "./standing.ts";
import { Watchers } from "./watchers.ts";

/** What the SQLite store may be told besides. */
export interface SqliteOptions extends JournalOptions {
  /** The most that the database may grow to, in its pages; without it the disk is the bound. */
  readonly maxPages?: number;
}

/** A journal in one file that several processes may have open. */
export async function sqliteJournal(path: string, options: SqliteOptions = {}): Promise<Journal> {
  const database = openDatabase(path);
  try {
    if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(options.maxPages)}`);
    return new SqliteJournal(database, path, options.now ?? Date.now);
  } catch (thrown) {
    // Damage in the schema shows only now, when the statements are prepared against it.
    database.close();
    throw storeFault(thrown, path);
  }
}

class SqliteJournal implements Journal {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #now: () => number;
  readonly #rows: Rows;
  readonly #commit: GroupCommit;
  readonly #watchers = new Watchers();
  /** Where appending goes on, for runs that this process appended to; right as long as nobody else commits. */
  readonly #tips = new Map<string, Tip>();
  /** What the open transaction touched. */
  readonly #touched = new Map<string, number>();
  #tipsVersion: number;
  #watchVersion = 0;
  #poll: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  constructor(database: DatabaseSync, path: string, now: () => number) {
    this.#database = database;
    this.#path = path;
    this.#now = now;
    this.#rows = new Rows(database);
    this.#tipsVersion = this.#rows.version();
    this.#commit = new GroupCommit(database, path, {
      begun: () => this.#forgetIfForeign(),
      undone: () => this.#forget(),
      committed: () => this.#wake(),
    });
  }

  async create(run: NewRun, entries: readonly Entry[], holder: LeaseHolder): Promise<{ head: RunHead; lease?: Lease }> {
    const bodies = bodiesOf(entries);
    return this.#write(() => {
      const known = run.key === undefined ? undefined : this.#rows.headOfKey(run.key);
      if (known !== undefined) return { head: known };
      if (this.#rows.lease(run.id) !== undefined) throw idTaken(run.id);
      const { first, task } = opening(run.id, entries);
      const status = advance(run.id, { seq: ROOT.seq, status: "running" }, entries);
      const until = termEnd(this.#now());
      const number = this.#rows.insertRun({ run, task, status, startedAt: first.at, holder, until });
      const tip: Tip = { number, epoch: 1, held: true, status, seq: ROOT.seq, hash: ROOT.hash };
      this.#remember(run.id, tip);
      this.#extend(run.id, tip, entries, bodies);
      const updatedAt = entries.at(-1)?.at ?? first.at;
      const head = { id: run.id, thread: run.thread, task, status, seq: tip.seq, startedAt: first.at, updatedAt };
      return { head, lease: { run: run.id, epoch: 1 } };
    });
  }

  async append(lease: Lease, entries: readonly Entry[]): Promise<void> {
    const bodies = bodiesOf(entries);
    return this.#write(() => {
      const tip = this.#tip(lease.run);
      if (tip === undefined || !tip.held || tip.epoch !== lease.epoch) throw leaseLost(lease.run);
      const status = advance(lease.run, tip, entries);
      this.#extend(lease.run, tip, entries, bodies);
      if (status === tip.status) return;
      this.#rows.setStatus(tip.number, status);
      tip.status = status;
    });
  }

  async read(run: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#look(() => {
      // The entry before the first one is read too: its hash is where the check begins.
      const links = this.#rows.links(run, after, limit + 1);
      const before = links[0]?.seq === after ? links.shift() : undefined;
      if (before === undefined && links.length === 0 && this.#rows.lease(run) === undefined) throw noSuchRun(run);
      const check = chainCheck(run, before ?? { seq: Math.max(after, 1) - 1, hash: ROOT.hash });
      return links.slice(0, limit).map((link) => {
        const reason = check(link);
        if (reason !== undefined) throw new Fault("JOURNAL_CORRUPT", `The journal of run ${run} is broken: ${reason}.`);
        return { seq: link.seq, at: link.at, event: eventOf(link) };
      });
    }, "JOURNAL_CORRUPT");
  }

  async head(run: string): Promise<RunHead | undefined> {
    return this.#look(() => this.#rows.head(run));
  }

  async list(filter: { open?: boolean; thread?: string; limit: number }): Promise<readonly RunHead[]> {
    return this.#look(() => this.#rows.list(filter));
  }

  async lease(run: string, holder: LeaseHolder): Promise<Lease> {
    return this.#write(() => {
      const held = this.#rows.lease(run);
      if (held === undefined) throw noSuchRun(run);
      refuseUnlessFree(run, held, holder, this.#now());
      const epoch = held.epoch + 1;
      this.#rows.setLease(held.number, epoch, { holder, until: termEnd(this.#now()) });
      this.#tips.delete(run);
      return { run, epoch };
    });
  }

  async renew(lease: Lease): Promise<void> {
    return this.#write(() => {
      if (!this.#rows.prolong(lease, termEnd(this.#now()))) throw leaseLost(lease.run);
    });
  }

  async release(lease: Lease): Promise<void> {
    return this.#write(() => {
      const held = this.#rows.lease(lease.run);
      if (held?.epoch !== lease.epoch) return;
      this.#rows.setLease(held.number, held.epoch, { holder: undefined, until: 0 });
      this.#tips.delete(lease.run);
    });
  }

  watch(run: string, wake: () => void): () => void {
    // The version comes first: what is committed in between is then told once too often rather than never.
    const version = this.#look(() => this.#rows.version());
    const seq = this.#look(() => this.#rows.lastSeq(run));
    const stop = this.#watchers.add(run, seq, wake);
    if (this.#poll === undefined) {
      this.#watchVersion = version;
      this.#poll = setInterval(() => this.#wakeIfForeign(), FOLLOW.pollMs).unref();
    }
    return () => {
      stop();
      if (this.#watchers.size === 0) this.#stopPolling();
    };
  }

  async verify(run: string): Promise<{ entries: number; brokenAt?: number; reason?: string }> {
    return this.#look(() => {
      const head = this.#rows.head(run);
      if (head === undefined) throw noSuchRun(run);
      const check = chainCheck(run);
      let entries = 0;
      let status: RunStatus = "running";
      for (let links = this.#rows.links(run, 1, FOLLOW.batch); links.length > 0;) {
        for (const link of links) {
          const reason = check(link);
          if (reason !== undefined) return { entries, brokenAt: entries + 1, reason };
          status = statusAfter(status, eventOf(link));
          entries += 1;
        }
        links = this.#rows.links(run, entries + 1, FOLLOW.batch);
      }
      // A chain cannot tell that its end was cut off; where the run is said to stand can.
      if (status === head.status && entries > 0) return { entries };
      return {
        entries,
        brokenAt: entries + 1,
        reason: `the run is ${head.status}, but entry ${entries + 1} is missing`,
      };
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Work that does nothing is carried out behind all that waits; who waits is told when the disk fails.
    await this.#commit.do(() => undefined).catch(() => undefined);
    this.#stopPolling();
    this.#watchers.clear();
    this.#database.close();
  }

  #refuseIfClosed(): void {
    if (this.#closed !== undefined) throw new Fault("STORE_UNREADABLE", `The store ${this.#path} was closed.`);
  }

  #write<T>(work: () => T): Promise<T> {
    this.#refuseIfClosed();
    return this.#commit.do(work);
  }

  #look<T>(work: () => T, otherwise?: FaultCode): T {
    this.#refuseIfClosed();
    try {
      this.#commit.bePatient();
      return work();
    } catch (thrown) {
      throw storeFault(thrown, this.#path, otherwise);
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
    const [oldest] = this.#tips.size >= STORE.heads ? this.#tips.keys() : [];
    if (oldest !== undefined) this.#tips.delete(oldest);
    this.#tips.set(run, tip);
  }

  #extend(run: string, tip: Tip, entries: readonly Entry[], bodies: readonly string[]): void {
    for (const [index, { seq, at }] of entries.entries()) {
      const link = { seq, at, body: bodies[index] ?? "" };
      tip.hash = linkHash(run, tip.hash, link);
      tip.seq = seq;
      this.#rows.insertEntry(tip.number, { ...link, hash: tip.hash });
    }
    this.#touched.set(run, tip.seq);
  }

  #forgetIfForeign(): void {
    const version = this.#rows.version();
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

  #wakeIfForeign(): void {
    try {
      const version = this.#rows.version();
      if (version === this.#watchVersion) return;
      for (const run of this.#watchers.runs()) this.#watchers.tell(run, this.#rows.lastSeq(run));
      this.#watchVersion = version;
    } catch {
      // A disk that cannot be read now is asked again at the next turn; whoever reads is told what is wrong.
    }
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}

function bodiesOf(entries: readonly Entry[]): string[] {
  return entries.map((entry) => JSON.stringify(entry.event));
}

function eventOf(link: Link): Event {
  return JSON.parse(link.body);
}
