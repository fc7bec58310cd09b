import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fault, STORE_LIMITS } from "@vidro/core";
import { commitUnknown, isBusy, isDoubtful, isOfDisk, storeFault } from "./sqlite/fault.ts";

/** Writes to the database; `isRepeat` when an earlier attempt at the same work may be on disk already. */
export type CommitWork<Value> = (isRepeat: boolean) => Value;

interface CommitRequest {
  /** Does the work and returns what to do once it is on disk; throws a Fault only before it has written anything. */
  readonly work: CommitWork<() => void>;
  readonly reject: (fault: Fault) => void;
  /** An earlier attempt failed in the commit itself, so it may be on disk. */
  isDoubtful: boolean;
}

/** Callbacks around a commit. */
export interface CommitHooks {
  /** The transaction has begun: no other connection can write now. */
  begun(): void;
  /** All work of the transaction is done; further rows for the same commit are written now. */
  committing(): void;
  /** The transaction was rolled back: anything cached from it is void. */
  undone(): void;
  /** The transaction is on disk. */
  committed(): void;
}

/** Dependencies of a group commit. */
interface GroupCommitOptions extends CommitHooks {
  readonly path: string;
  /** Opens a new connection in place of one whose commit failed with an unknown outcome; throws when it cannot. */
  reopen(): DatabaseSync;
}

/**
 * Puts all writes of one turn of the event loop into one transaction, so that they share one sync of the disk.
 *
 * A commit whose sync failed may be on disk or not. The connection is then replaced, and the same work is repeated
 * until a commit succeeds: each piece of work checks whether it was done. When that takes too long its callers get
 * COMMIT_UNKNOWN, never a refusal.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #statements: Statements;
  #isPatient = true;
  #waiting: CommitRequest[] = [];
  #turn: NodeJS.Immediate | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Time of the first failed attempt since the last success. */
  #troubledSince: number | undefined;
  /** The connection has to be replaced before the next attempt. */
  #isReopening = false;

  constructor(database: DatabaseSync, options: GroupCommitOptions) {
    this.#options = options;
    this.#statements = statementsOf(database);
  }

  /** Does the work in this turn's transaction, in order; settles once that is on disk. */
  do<Value>(work: CommitWork<Value>): Promise<Value> {
    if (this.#waiting.length >= STORE_LIMITS.waiting) return Promise.reject(this.#crowdedFault());
    return new Promise<Value>((resolve, reject) => {
      const settling: CommitWork<() => void> = (isRepeat) => {
        const value = work(isRepeat);
        return () => resolve(value);
      };
      this.#waiting.push({ work: settling, reject, isDoubtful: false });
      if (this.#retry !== undefined) return;
      this.#turn ??= setImmediate(() => this.#flush());
      if (this.#waiting.length >= STORE_LIMITS.batch) this.#flush();
    });
  }

  /** Lets SQLite wait for a lock in the next read; writes wait by themselves. */
  bePatient(): void {
    if (this.#isPatient) return;
    setBusyTimeout(this.#statements.database, STORE_LIMITS.busyMs);
    this.#isPatient = true;
  }

  #flush(): void {
    clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#retry = undefined;
    const jobs = this.#waiting;
    this.#waiting = [];
    const refused = new Map<CommitRequest, Fault>();
    let done: (() => void)[] | undefined;
    try {
      this.#reopenIfDoubtful();
      while (done === undefined) done = this.#attempt(jobs, refused);
    } catch (thrown) {
      this.#undo();
      const restMs = this.#restMs(thrown, jobs);
      if (restMs === undefined) return this.#giveUp(thrown, jobs, refused);
      this.#waiting = jobs;
      this.#retry = setTimeout(() => this.#flush(), restMs);
      return;
    }
    this.#troubledSince = undefined;
    for (const settle of done) settle();
    for (const [job, fault] of refused) job.reject(fault);
    this.#options.committed();
  }

  /**
   * One transaction with all jobs that are not refused; undefined when another one was refused and it is to be tried
   * again.
   */
  #attempt(jobs: readonly CommitRequest[], refused: Map<CommitRequest, Fault>): (() => void)[] | undefined {
    const done: (() => void)[] = [];
    this.#beginOrThrow();
    this.#options.begun();
    for (const job of jobs) {
      if (refused.has(job)) continue;
      try {
        done.push(job.work(job.isDoubtful));
      } catch (thrown) {
        if (isOfDisk(thrown)) throw thrown;
        refused.set(job, storeFault(thrown, this.#options.path));
        if (thrown instanceof Fault) continue;
        // It may have written a part, so the transaction is rolled back and repeated without it.
        this.#undo();
        return undefined;
      }
    }
    this.#options.committing();
    this.#commitOrThrow(jobs);
    return done;
  }

  #commitOrThrow(jobs: readonly CommitRequest[]): void {
    try {
      this.#statements.commit.run();
    } catch (thrown) {
      if (isDoubtful(thrown)) {
        this.#isReopening = true;
        for (const job of jobs) job.isDoubtful = true;
      }
      throw thrown;
    }
  }

  /**
   * Waits for a lock here: SQLite would block the process, and its back-off is so long that a busy process would starve
   * this one.
   */
  #beginOrThrow(): void {
    // Reset by the next read and not here, which saves two statements in each commit of a loop that only writes.
    if (this.#isPatient) setBusyTimeout(this.#statements.database, 0);
    this.#isPatient = false;
    this.#statements.begin.run();
  }

  #reopenIfDoubtful(): void {
    if (!this.#isReopening) return;
    this.#statements = statementsOf(this.#options.reopen());
    this.#isPatient = true;
    this.#isReopening = false;
  }

  /** Time until the same jobs are tried again; undefined when they have been tried for long enough. */
  #restMs(thrown: unknown, jobs: readonly CommitRequest[]): number | undefined {
    const inDoubt = jobs.some((job) => job.isDoubtful);
    if (!isBusy(thrown) && !inDoubt) return undefined;
    this.#troubledSince ??= performance.now();
    const triedMs = performance.now() - this.#troubledSince;
    if (triedMs >= (inDoubt ? STORE_LIMITS.doubtMs : STORE_LIMITS.busyMs)) return undefined;
    return isBusy(thrown) ? STORE_LIMITS.retryMs : STORE_LIMITS.reopenMs;
  }

  #giveUp(thrown: unknown, jobs: readonly CommitRequest[], refused: ReadonlyMap<CommitRequest, Fault>): void {
    const { path } = this.#options;
    this.#troubledSince = undefined;
    for (const job of jobs)
      job.reject(job.isDoubtful ? commitUnknown(thrown, path) : (refused.get(job) ?? storeFault(thrown, path)));
  }

  #undo(): void {
    const { database } = this.#statements;
    if (database.isTransaction) database.exec("ROLLBACK");
    this.#options.undone();
  }

  #crowdedFault(): Fault {
    const message = `${STORE_LIMITS.waiting} calls wait for the store ${this.#options.path} already.`;
    return new Fault("STORE_BUSY", message);
  }
}

interface Statements {
  readonly database: DatabaseSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

function statementsOf(database: DatabaseSync): Statements {
  return {
    database,
    begin: database.prepare("BEGIN IMMEDIATE"),
    commit: database.prepare("COMMIT"),
  };
}

/** Sets the busy timeout. SQLite applies this pragma when it is prepared, so it cannot be a prepared statement. */
function setBusyTimeout(database: DatabaseSync, ms: number): void {
  database.exec(`PRAGMA busy_timeout = ${ms}`);
}
