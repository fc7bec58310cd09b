import { Fault } from "@vidro/core";

/** How many run at a time, how many may wait, and the retry time of those refused. */
interface ConcurrencyLimitOptions {
  readonly atOnce: number;
  readonly waiting: number;
  readonly retryAfterMs: number;
}

/** Runs a bounded number of costly tasks at a time; RATE_LIMITED when too many wait already. */
export class ConcurrencyLimit {
  readonly #options: ConcurrencyLimitOptions;
  readonly #queue: (() => void)[] = [];
  #busy = 0;

  constructor(options: ConcurrencyLimitOptions) {
    this.#options = options;
  }

  /** Does the work when its turn comes. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      // The slot goes straight to the longest waiter; a new caller cannot take it in between.
      const next = this.#queue.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    const { atOnce, waiting, retryAfterMs } = this.#options;
    if (this.#busy < atOnce) {
      this.#busy += 1;
      return;
    }
    if (this.#queue.length >= waiting)
      throw new Fault("RATE_LIMITED", "Too many tokens are being checked; try again in a moment.", { retryAfterMs });
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }
}
