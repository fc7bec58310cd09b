import type { DatabaseSync } from "node:sqlite";
import { Fault, FOLLOW_LIMITS } from "@vidro/core";
import { GroupCommit } from "./group-commit.ts";
import type { CommitHooks, CommitWork } from "./group-commit.ts";
import { storeFault } from "./sqlite-fault.ts";
import { openDatabase } from "./sqlite-open.ts";
import { query } from "./sqlite-rows.ts";
import type { Query } from "./sqlite-rows.ts";

/** A part that keeps its tables in a database. */
export interface ConnectionMember extends Omit<CommitHooks, "committing"> {
  /** Prepares its statements: at once, and again whenever the connection was replaced. */
  opened(database: DatabaseSync): void;
  /** All work of the transaction is done. */
  committing?(): void;
  /** The next commit is the last. */
  leaving?(): void;
  /** The last commit is through; nothing can be read after it. */
  closing?(): void;
}

/** One open database whose tables several parts share: one commit a turn, and one look-out for other processes. */
export class SqliteConnection {
  readonly #path: string;
  readonly #commit: GroupCommit;
  readonly #members: ConnectionMember[] = [];
  readonly #lookouts = new Set<() => void>();
  #database: DatabaseSync;
  #version: Query<{ readonly data_version: number }>;
  #seenVersion = 0;
  #poll: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  constructor(database: DatabaseSync, path: string) {
    this.#path = path;
    this.#database = database;
    this.#version = query(database, "PRAGMA data_version");
    const tell = (what: keyof CommitHooks) => () => {
      for (const member of this.#members) member[what]?.();
    };
    this.#commit = new GroupCommit(database, {
      path,
      begun: tell("begun"),
      committing: tell("committing"),
      undone: tell("undone"),
      committed: tell("committed"),
      reopen: () => this.#reopen(),
    });
  }

  /** The database that is open now; after a commit that failed in doubt it is another one. */
  get database(): DatabaseSync {
    return this.#database;
  }

  /** Tells a part of every commit from now on. */
  join(member: ConnectionMember): void {
    this.#members.push(member);
    member.opened(this.#database);
  }

  /** Changes whenever another connection has committed. */
  version(): number {
    return this.#version.get()?.data_version ?? 0;
  }

  /** Does the work in this turn's transaction; settles once that is on disk. */
  async write<T>(work: CommitWork<T>): Promise<T> {
    this.#refuseIfClosed();
    return this.#commit.do(work);
  }

  /** Reads; what goes wrong is a Fault. */
  look<T>(work: () => T): T {
    this.#refuseIfClosed();
    try {
      this.#commit.bePatient();
      return work();
    } catch (thrown) {
      throw storeFault(thrown, this.#path);
    }
  }

  /** Calls `tell` after commits of other connections; returns how to stop. */
  lookOut(tell: () => void): () => void {
    if (this.#poll === undefined) {
      this.#seenVersion = this.look(() => this.version());
      this.#poll = setInterval(() => this.#tellIfForeign(), FOLLOW_LIMITS.pollMs).unref();
    }
    this.#lookouts.add(tell);
    return () => {
      this.#lookouts.delete(tell);
      if (this.#lookouts.size === 0) this.#stopPolling();
    };
  }

  /** Commits what is waiting and closes; harmless when it is closed already. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Work that does nothing is carried out behind all that waits; who waits is told when the disk fails.
    for (const member of this.#members) member.leaving?.();
    await this.#commit.do(() => undefined).catch(() => undefined);
    this.#stopPolling();
    this.#lookouts.clear();
    for (const member of this.#members) member.closing?.();
    this.#database.close();
  }

  /** Opened before the old one is closed: the last to close a database would write out what is in doubt. */
  #reopen(): DatabaseSync {
    const old = this.#database;
    const database = openDatabase(this.#path);
    this.#database = database;
    this.#version = query(database, "PRAGMA data_version");
    // What others wrote while it was replaced has to be noticed, and a new connection counts from elsewhere.
    this.#seenVersion = NaN;
    for (const member of this.#members) member.opened(database);
    old.close();
    return database;
  }

  #refuseIfClosed(): void {
    if (this.#closed !== undefined) throw new Fault("STORE_UNREADABLE", `The store ${this.#path} was closed.`);
  }

  #tellIfForeign(): void {
    try {
      const version = this.version();
      if (version === this.#seenVersion) return;
      for (const tell of this.#lookouts) tell();
      this.#seenVersion = version;
    } catch {
      // A disk that cannot be read now is asked again at the next turn; whoever reads is told what is wrong.
    }
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}
