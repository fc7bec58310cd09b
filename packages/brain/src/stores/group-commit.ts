import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fault, STORE } from "@vidro/core";
import { isBusy, isOutOfSpace, storeFault } from "./sqlite-fault.ts";

interface Job {
  /** Gives what to do once its work is on disk; throws a Fault only before it has written anything. */
  readonly work: () => () => void;
  readonly reject: (fault: Fault) => void;
}

/** What the owner of a database does around a commit. */
export interface CommitHooks {
  /** The transaction has begun: nobody else can write now. */
  begun(): void;
  /** The transaction was rolled back: whatever its work remembered is void. */
  undone(): void;
  /** The transaction is on disk. */
  committed(): void;
}

/** Puts all writes of one turn of the event loop into one transaction, so that they share one sync of the disk. */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #hooks: CommitHooks;
  readonly #begin: StatementSync;
  readonly #impatient: StatementSync;
  readonly #patient: StatementSync;
  readonly #commit: StatementSync;
  #isPatient = true;
  #waiting: Job[] = [];
  #turn: NodeJS.Immediate | undefined;
  #retry: NodeJS.Timeout | undefined;
  #busySince: number | undefined;

  constructor(database: DatabaseSync, path: string, hooks: CommitHooks) {
    this.#database = database;
    this.#path = path;
    this.#hooks = hooks;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#impatient = database.prepare("PRAGMA busy_timeout = 0");
    this.#patient = database.prepare(`PRAGMA busy_timeout = ${STORE.busyMs}`);
    this.#commit = database.prepare("COMMIT");
  }

  /** Does the work in this turn's transaction, in order; settles once that is on disk. */
  do<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settling = (): (() => void) => {
        const value = work();
        return () => resolve(value);
      };
      this.#waiting.push({ work: settling, reject });
      if (this.#retry !== undefined) return;
      this.#turn ??= setImmediate(() => this.#flush());
      if (this.#waiting.length >= STORE.batch) this.#flush();
    });
  }

  /** Lets SQLite wait for a lock in what is read next; writing sees to its own waiting. */
  bePatient(): void {
    if (this.#isPatient) return;
    this.#patient.get();
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
      while (done === undefined) done = this.#attempt(jobs, refused);
    } catch (thrown) {
      this.#undo();
      if (isBusy(thrown) && this.#mayWait()) {
        this.#waiting = jobs;
        this.#retry = setTimeout(() => this.#flush(), STORE.retryMs);
        return;
      }
      this.#busySince = undefined;
      for (const job of jobs) job.reject(refused.get(job) ?? storeFault(thrown, this.#path));
      return;
    }
    for (const settle of done) settle();
    for (const [job, fault] of refused) job.reject(fault);
    this.#hooks.committed();
  }

  /** One transaction with all jobs that are not refused; nothing when one more is and it has to be tried again. */
  #attempt(jobs: readonly Job[], refused: Map<Job, Fault>): (() => void)[] | undefined {
    const done: (() => void)[] = [];
    this.#beginOrThrow();
    this.#busySince = undefined;
    this.#hooks.begun();
    for (const job of jobs) {
      if (refused.has(job)) continue;
      try {
        done.push(job.work());
      } catch (thrown) {
        if (isOutOfSpace(thrown)) throw thrown;
        refused.set(job, storeFault(thrown, this.#path));
        if (thrown instanceof Fault) continue;
        // It may have written a part: the others go again without it, so that they neither fail nor carry that part.
        this.#undo();
        return undefined;
      }
    }
    this.#commit.run();
    return done;
  }

  /** SQLite would wait by holding up the whole process, with rests so long that a busy neighbour starves us: we wait. */
  #beginOrThrow(): void {
    // Set back by who reads, not here: a loop that only writes is spared two statements in each commit.
    if (this.#isPatient) this.#impatient.get();
    this.#isPatient = false;
    this.#begin.run();
  }

  #mayWait(): boolean {
    this.#busySince ??= performance.now();
    return performance.now() - this.#busySince < STORE.busyMs;
  }

  #undo(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#hooks.undone();
  }
}
