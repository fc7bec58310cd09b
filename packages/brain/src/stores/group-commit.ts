import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fault, STORE_LIMITS } from "@vidro/core";
import { commitUnknown, isBusy, isDoubtful, isOfDisk, storeFault } from "./sqlite-fault.ts";

/** Writes something; `isRepeat` when an earlier attempt at the same work may be on disk already. */
export type CommitWork<Value> = (isRepeat: boolean) => Value;

interface Job {
  /** Gives what to do once its work is on disk; throws a Fault only before it has written anything. */
  readonly work: CommitWork<() => void>;
  readonly reject: (fault: Fault) => void;
  /** An attempt at it failed in the commit itself, so that it may be on disk. */
  isDoubtful: boolean;
}

/** What the owner of a database does around a commit. */
export interface CommitHooks {
  /** The transaction has begun: nobody else can write now. */
  begun(): void;
  /** All work of the transaction is done: what is to go with it is written now. */
  committing(): void;
  /** The transaction was rolled back: whatever its work remembered is void. */
  undone(): void;
  /** The transaction is on disk. */
  committed(): void;
}

/** What a group commit needs of its database. */
interface GroupCommitOptions extends CommitHooks {
  readonly path: string;
  /** Gives a new connection in place of one whose commit failed with an unknown outcome; throws when it cannot. */
  reopen(): DatabaseSync;
}

/**
 * Puts all writes of one turn of the event loop into one transaction, so that they share one sync of the disk.
 *
 * A commit whose sync failed may be on disk or not. The connection is then replaced, and the same work is tried again
 * until a commit succeeds: each piece of work finds out whether it was done. When that takes too long its callers are
 * told COMMIT_UNKNOWN, never that it was refused.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #statements: Statements;
  #isPatient = true;
  #waiting: Job[] = [];
  #turn: NodeJS.Immediate | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** When the first of the attempts failed that have failed since the last success. */
  #troubledSince: number | undefined;
  /** The connection has to be replaced before the next attempt. */
  #isReopening = false;

  constructor(database: DatabaseSync, options: GroupCommitOptions) {
    this.#options = options;
    this.#statements = statementsOf(database);
  }

  /** Does the work in this turn's transaction, in order; settles once that is on disk. */
  do<Value>(work: CommitWork<Value>): Promise<Value> {
    if (this.#waiting.length >= STORE_LIMITS.waiting) return Promise.reject(this.#crowded());
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

  /** Lets SQLite wait for a lock in what is read next; writing sees to its own waiting. */
  bePatient(): void {
    if (this.#isPatient) return;
    setPatience(this.#statements.database, STORE_LIMITS.busyMs);
    this.#isPatient = true;
  }

  #flush(): void {
    clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#retry = undefined;
    const jobs = this.#waiting;
    this.#waiting = [];
    const refused = new Map<Job, Fault>();
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

  /** One transaction with all jobs that are not refused; nothing when one more is and it has to be tried again. */
  #attempt(jobs: readonly Job[], refused: Map<Job, Fault>): (() => void)[] | undefined {
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
        // It may have written a part: the others go again without it, so that they neither fail nor carry that part.
        this.#undo();
        return undefined;
      }
    }
    this.#options.committing();
    this.#commitOrThrow(jobs);
    return done;
  }

  #commitOrThrow(jobs: readonly Job[]): void {
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

  /** SQLite would wait by holding up the whole process, with rests so long that a busy neighbour starves us: we wait. */
  #beginOrThrow(): void {
    // Set back by who reads, not here: a loop that only writes is spared two statements in each commit.
    if (this.#isPatient) setPatience(this.#statements.database, 0);
    this.#isPatient = false;
    this.#statements.begin.run();
  }

  #reopenIfDoubtful(): void {
    if (!this.#isReopening) return;
    this.#statements = statementsOf(this.#options.reopen());
    this.#isPatient = true;
    this.#isReopening = false;
  }

  /** How long to rest before the same jobs are tried again; undefined when they have been tried for long enough. */
  #restMs(thrown: unknown, jobs: readonly Job[]): number | undefined {
    const inDoubt = jobs.some((job) => job.isDoubtful);
    if (!isBusy(thrown) && !inDoubt) return undefined;
    this.#troubledSince ??= performance.now();
    const triedMs = performance.now() - this.#troubledSince;
    if (triedMs >= (inDoubt ? STORE_LIMITS.doubtMs : STORE_LIMITS.busyMs)) return undefined;
    return isBusy(thrown) ? STORE_LIMITS.retryMs : STORE_LIMITS.reopenMs;
  }

  #giveUp(thrown: unknown, jobs: readonly Job[], refused: ReadonlyMap<Job, Fault>): void {
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

  #crowded(): Fault {
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

/** SQLite obeys this pragma when it is prepared, not when it is stepped: a statement that is kept would do nothing. */
function setPatience(database: DatabaseSync, ms: number): void {
  database.exec(`PRAGMA busy_timeout = ${ms}`);
}
