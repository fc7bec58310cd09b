import { asFault, STORE } from "@vidro/core";
import type { Entry, Fault, FaultCode, Journal, Lease } from "@vidro/core";

/** Faults of a store that pass: the same entries may be appended again, since those that are there are left alone. */
const PASSING: ReadonlySet<FaultCode> = new Set(["STORE_BUSY", "STORE_FAILED", "STORAGE_FULL", "COMMIT_UNKNOWN"]);

/** Whether a store that met this fault may take the same call later. */
export function isPassing(thrown: unknown): boolean {
  return PASSING.has(asFault(thrown).code);
}

/** How a store was waited for. */
export interface Wait {
  /** What it said first. */
  readonly fault: Fault;
  readonly attempts: number;
  readonly waitedMs: number;
}

/** Appends the entries of one run in order under one lease, and holds on through faults of the store that pass. */
export class Writer {
  readonly #journal: Pick<Journal, "append">;
  readonly #lease: Lease;
  /** Entries that are not known to be durable, in order. */
  #unsaved: Entry[] = [];
  #retrying: Promise<void> | undefined;
  #wait: Wait | undefined;
  #isStopped = false;
  #wake: (() => void) | undefined;

  constructor(journal: Pick<Journal, "append">, lease: Lease) {
    this.#journal = journal;
    this.#lease = lease;
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

  /** How the store was waited for since this was last asked; the store takes entries again. */
  takeWait(): Wait | undefined {
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
    if (!isPassing(fault)) throw fault;
    this.#retrying = this.#retry(fault).finally(() => (this.#retrying = undefined));
    return this.#retrying;
  }

  async #retry(first: Fault): Promise<void> {
    const since = performance.now();
    let last = first;
    for (let attempt = 1; this.#unsaved.length > 0; attempt += 1) {
      await this.#rest(Math.min(STORE.backoffMs * 2 ** (attempt - 1), STORE.backoffCapMs));
      if (this.#isStopped) throw last;
      const entries = [...this.#unsaved];
      try {
        await this.#journal.append(this.#lease, entries);
        this.#saved(entries);
        this.#wait = { fault: first, attempts: attempt, waitedMs: Math.round(performance.now() - since) };
      } catch (thrown) {
        last = asFault(thrown);
        if (!isPassing(last)) throw last;
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
