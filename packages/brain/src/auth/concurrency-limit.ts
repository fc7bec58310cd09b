import { Fault } from "@vidro/core";

/** How many pass at a time, how many may wait, and what those beyond are told. */
interface ConcurrencyLimitOptions {
  readonly atOnce: number;
  readonly waiting: number;
  readonly retryAfterMs: number;
}

/** Lets a few pieces of costly work through at a time; RATE_LIMITED when too many wait already. */
export class ConcurrencyLimit {
  readonly #options: ConcurrencyLimitOptions;
  readonly #queue: (() => void)[] = [];
  #busy = 0;

  constructor(options: ConcurrencyLimitOptions) {
    this.#options = options;
  }

  /** Does the work when it is its turn. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      // The place goes straight to who waits longest, so that nobody can slip in between.
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
