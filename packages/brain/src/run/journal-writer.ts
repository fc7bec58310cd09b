import { asFault, RUN_LIMITS, STORE_LIMITS } from "@vidro/core";
import type { Entry, Fault, HealTried, Journal, Lease } from "@vidro/core";
import { isTransient } from "../stores/transient-faults.ts";

/** The part of the journal that a writer uses. */
type WriterJournal = Pick<Journal, "append" | "renew" | "release">;

/** Entries that gather for one append. */
interface EntryBatch {
  readonly entries: Entry[];
  readonly saved: PromiseWithResolvers<void>;
  /** Sends them at the end of this turn of the event loop, unless they are sent before. */
  readonly turn: NodeJS.Immediate;
}

/** Holds the lease of one run and appends its entries in order; transient faults of the store are retried. */
export class JournalWriter {
  readonly #journal: WriterJournal;
  readonly #lease: Lease;
  #batch: EntryBatch | undefined;
  /** Entries not known to be durable, in order. */
  #unsaved: Entry[] = [];
  #retrying: Promise<void> | undefined;
  #trouble: Fault | undefined;
  /** The last wait for the store, until it is recorded. */
  #wait: HealTried | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #isStopped = false;
  #wake: (() => void) | undefined;

  constructor(journal: WriterJournal, lease: Lease) {
    this.#journal = journal;
    this.#lease = lease;
  }

  /** Last fault of the store while appends are retried. */
  get trouble(): Fault | undefined {
    return this.#trouble;
  }

  /** Renews the lease from now on; `lost` is called once the store says that another process has it. */
  hold(lost: (fault: Fault) => void): void {
    this.#renewal = setInterval(() => {
      this.#journal.renew(this.#lease).catch((thrown: unknown) => {
        // A store that cannot be written now says nothing about the lease.
        if (!isTransient(thrown)) lost(asFault(thrown));
      });
    }, RUN_LIMITS.leaseMs / 3).unref();
  }

  /** Releases the lease behind all entries; if the store cannot record that now, the lease expires. */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    this.send();
    await this.#journal.release(this.#lease).catch((thrown: unknown) => {
      if (!isTransient(thrown)) throw thrown;
    });
  }

  /**
   * Adds entries to the next append, which is sent by `send` or at the end of this turn of the event loop. Resolves when
   * they are durable; rejects with the fault for which the store refuses them for good.
   */
  add(entries: readonly Entry[]): Promise<void> {
    this.#batch ??= this.#newBatch();
    this.#batch.entries.push(...entries);
    return this.#batch.saved.promise;
  }

  /** Sends what has gathered to the store. */
  send(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    clearImmediate(batch.turn);
    batch.saved.resolve(this.#append(batch.entries));
  }

  #newBatch(): EntryBatch {
    const saved = Promise.withResolvers<void>();
    // Awaited where an effect follows; a rejection before that must not count as unhandled.
    saved.promise.catch(() => undefined);
    return { entries: [], saved, turn: setImmediate(() => this.send()) };
  }

  #append(entries: readonly Entry[]): Promise<void> {
    this.#unsaved.push(...entries);
    // While appends are retried, new entries join the next attempt.
    if (this.#retrying !== undefined) return this.#retrying;
    return this.#journal.append(this.#lease, entries).then(
      () => this.#noteSaved(entries),
      (thrown: unknown) => this.#retryOrFail(asFault(thrown), entries),
    );
  }

  /** Takes the event that describes the last wait for the store, once the store takes entries again. */
  takeWait(): HealTried | undefined {
    const wait = this.#retrying === undefined ? this.#wait : undefined;
    if (wait !== undefined) this.#wait = undefined;
    return wait;
  }

  /** Stops retrying: pending appends reject with the store's last fault. */
  stop(): void {
    this.#isStopped = true;
    this.#wake?.();
  }

  #noteSaved(entries: readonly Entry[]): void {
    const last = entries.at(-1)?.seq ?? 0;
    while ((this.#unsaved[0]?.seq ?? Infinity) <= last) this.#unsaved.shift();
  }

  /**
   * An append queued behind one that failed fails too, and may be saved by that one's retry before its own fault
   * arrives.
   */
  #retryOrFail(fault: Fault, entries: readonly Entry[]): Promise<void> | undefined {
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
        this.#noteSaved(entries);
        this.#wait = waitEvent(first, attempt, Math.round(performance.now() - since));
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

function waitEvent(fault: Fault, attempt: number, waitedMs: number): HealTried {
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
