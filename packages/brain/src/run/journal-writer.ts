import { asFault, RUN_LIMITS, STORE_LIMITS } from "@vidro/core";
import type { Entry, Fault, HealTried, Journal, Lease } from "@vidro/core";
import { isTransient } from "../stores/transient-faults.ts";

/** What a writer needs of the journal. */
type WriterJournal = Pick<Journal, "append" | "renew" | "release">;

/** Holds the lease of one run and appends its entries in order, through faults of the store that pass. */
export class JournalWriter {
  readonly #journal: WriterJournal;
  readonly #lease: Lease;
  /** Entries that are not known to be durable, in order. */
  #unsaved: Entry[] = [];
  #retrying: Promise<void> | undefined;
  #trouble: Fault | undefined;
  /** The wait that is not on record yet. */
  #wait: HealTried | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #isStopped = false;
  #wake: (() => void) | undefined;

  constructor(journal: WriterJournal, lease: Lease) {
    this.#journal = journal;
    this.#lease = lease;
  }

  /** What the store said last, while it is waited for. */
  get trouble(): Fault | undefined {
    return this.#trouble;
  }

  /** Renews the lease from now on; `lost` is told once the store says that somebody else has it. */
  hold(lost: (fault: Fault) => void): void {
    this.#renewal = setInterval(() => {
      this.#journal.renew(this.#lease).catch((thrown: unknown) => {
        // A store that cannot be written now says nothing about whose the run is.
        if (!isTransient(thrown)) lost(asFault(thrown));
      });
    }, RUN_LIMITS.leaseMs / 3).unref();
  }

  /** Gives the lease back; one that the store does not take back now runs out by itself. */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    await this.#journal.release(this.#lease).catch((thrown: unknown) => {
      if (!isTransient(thrown)) throw thrown;
    });
  }

  /** Resolves when the entries are durable; rejects with the fault that keeps them from ever being so. */
  append(entries: readonly Entry[]): Promise<void> {
    this.#unsaved.push(...entries);
    // What comes while the store is waited for goes with what waits.
    if (this.#retrying !== undefined) return this.#retrying;
    return this.#journal.append(this.#lease, entries).then(
      () => this.#saved(entries),
      (thrown: unknown) => this.#failed(asFault(thrown), entries),
    );
  }

  /** How the store was waited for, when it takes entries again and that has not been asked for yet. */
  takeWait(): HealTried | undefined {
    const wait = this.#retrying === undefined ? this.#wait : undefined;
    if (wait !== undefined) this.#wait = undefined;
    return wait;
  }

  /** Waits no longer: what is not durable now is given up with the store's last fault. */
  stop(): void {
    this.#isStopped = true;
    this.#wake?.();
  }

  #saved(entries: readonly Entry[]): void {
    const last = entries.at(-1)?.seq ?? 0;
    while ((this.#unsaved[0]?.seq ?? Infinity) <= last) this.#unsaved.shift();
  }

  /** A call behind one that failed may fail for want of it, and be saved with it before its own fault is heard. */
  #failed(fault: Fault, entries: readonly Entry[]): Promise<void> | undefined {
    if (this.#retrying !== undefined) return this.#retrying;
    if ((entries.at(-1)?.seq ?? 0) < (this.#unsaved[0]?.seq ?? Infinity)) return undefined;
    if (!isTransient(fault)) throw fault;
    this.#retrying = this.#retry(fault).finally(() => {
      this.#retrying = undefined;
      this.#trouble = undefined;
    });
    return this.#retrying;
  }

  async #retry(first: Fault): Promise<void> {
    const since = performance.now();
    this.#trouble = first;
    for (let attempt = 1; this.#unsaved.length > 0; attempt += 1) {
      await this.#rest(Math.min(STORE_LIMITS.backoffMs * 2 ** (attempt - 1), STORE_LIMITS.backoffCapMs));
      if (this.#isStopped) throw this.#trouble;
      const entries = [...this.#unsaved];
      try {
        await this.#journal.append(this.#lease, entries);
        this.#saved(entries);
        this.#wait = waited(first, attempt, Math.round(performance.now() - since));
      } catch (thrown) {
        this.#trouble = asFault(thrown);
        if (!isTransient(thrown)) throw this.#trouble;
      }
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wake = done;
      if (this.#isStopped) done();
    });
  }
}

function waited(fault: Fault, attempt: number, waitedMs: number): HealTried {
  return {
    type: "heal.tried",
    healing: "wait_for_store",
    description: `The store did not take entries for ${waitedMs} ms; they were kept and are recorded now.`,
    severity: "critical",
    attempt,
    delayMs: 0,
    metadata: { code: fault.code, cause: fault.message, waited_ms: waitedMs },
  };
}
