import type { DatabaseSync } from "node:sqlite";
import { Fault, FOLLOW_LIMITS } from "@vidro/core";
import { GroupCommit } from "../group-commit.ts";
import type { CommitHooks, CommitWork } from "../group-commit.ts";
import { storeFault } from "./fault.ts";
import { openDatabase } from "./open.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

/** A part of the store that has tables in the database. */
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

/**
 * One open database that several parts share: one commit per turn of the event loop, and one watch for other processes.
 */
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

  /** The open database; replaced after a commit with an unknown outcome. */
  get database(): DatabaseSync {
    return this.#database;
  }

  /** Calls the hooks of a part at every commit from now on. */
  join(member: ConnectionMember): void {
    this.#members.push(member);
    member.opened(this.#database);
  }

  /** Changes whenever another connection has committed. */
  version(): number {
    return this.#version.get()?.data_version ?? 0;
  }

  /** Does the work in this turn's transaction; settles once that is on disk. */
  write<T>(work: CommitWork<T>): Promise<T> {
    return this.#closed === undefined ? this.#commit.do(work) : Promise.reject(this.#closedFault());
  }

  /** Reads; errors are thrown as Faults. */
  look<T>(work: () => T): T {
    this.#refuseIfClosed();
    try {
      this.#commit.bePatient();
      return work();
    } catch (thrown) {
      throw storeFault(thrown, this.#path);
    }
  }

  /** Calls `tell` after commits of other connections; returns a function that stops that. */
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

  /** Commits pending work and closes; does nothing when it is closed already. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Empty work, queued behind all pending work; its callers get the fault when the disk fails.
    for (const member of this.#members) member.leaving?.();
    await this.#commit.do(() => undefined).catch(() => undefined);
    this.#stopPolling();
    this.#lookouts.clear();
    for (const member of this.#members) member.closing?.();
    this.#database.close();
  }

  /**
   * Opens the new connection before the old one closes: the last connection to close would checkpoint the doubtful
   * commit.
   */
  #reopen(): DatabaseSync {
    const old = this.#database;
    const database = openDatabase(this.#path);
    this.#database = database;
    this.#version = query(database, "PRAGMA data_version");
    // Commits of others during the replacement must be noticed, and the counter of a new connection starts elsewhere.
    this.#seenVersion = NaN;
    for (const member of this.#members) member.opened(database);
    old.close();
    return database;
  }

  #refuseIfClosed(): void {
    if (this.#closed !== undefined) throw this.#closedFault();
  }

  #closedFault(): Fault {
    return new Fault("STORE_UNREADABLE", `The store ${this.#path} was closed.`);
  }

  #tellIfForeign(): void {
    try {
      const version = this.version();
      if (version === this.#seenVersion) return;
      for (const tell of this.#lookouts) tell();
      this.#seenVersion = version;
    } catch {
      // If the disk cannot be read now, the next turn tries again; readers get the fault themselves.
    }
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}
