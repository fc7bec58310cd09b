/** A bucket of tokens that fills up by itself: what may come at once, and how fast after that. */
export class TokenBucket {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  constructor(burst: number, perSecond: number, now: () => number = performance.now.bind(performance)) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#now = now;
    this.#tokens = burst;
    this.#at = now();
  }

  /** Takes a token: 0 when there was one, else how many ms until there is. */
  take(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) / this.#perMs);
    this.#tokens -= 1;
    return 0;
  }

  /** Puts a token back that was taken and not used up. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }
}
