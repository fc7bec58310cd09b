import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";

/** Token bucket parameters. */
interface AttemptBounds {
  /** Attempts allowed at once. */
  readonly burst: number;
  /** Time after which one more attempt is allowed. */
  readonly everyMs: number;
  /** Maximum number of names counted; the one with the oldest attempt is dropped. */
  readonly kept: number;
}

/** Limits of requests for a certificate, by address. */
export const ENROL_ATTEMPTS: AttemptBounds = {
  burst: SOUTHBOUND_LIMITS.enrolBurst,
  everyMs: SOUTHBOUND_LIMITS.enrolEveryMs,
  kept: SOUTHBOUND_LIMITS.enrolAddresses,
};

/** Counts attempts by name, such as an address; RATE_LIMITED above the limit. */
export class AttemptLimit {
  readonly #bounds: AttemptBounds;
  readonly #now: () => number;
  /** When each name has its full burst again; ordered by the last attempt, oldest first. */
  readonly #fullAt = new Map<string, number>();

  /** `now` must be monotonic. */
  constructor(bounds: AttemptBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Counts one attempt of a name. */
  takeAttempt(name: string): void {
    const { burst, everyMs, kept } = this.#bounds;
    const now = this.#now();
    const fullAt = Math.max(now, this.#fullAt.get(name) ?? now) + everyMs;
    const retryAfterMs = fullAt - now - burst * everyMs;
    if (retryAfterMs > 0) throw new Fault("RATE_LIMITED", "Too many attempts; wait and try again.", { retryAfterMs });
    this.#fullAt.delete(name);
    this.#fullAt.set(name, fullAt);
    const [quietest] = this.#fullAt.keys();
    if (this.#fullAt.size > kept && quietest !== undefined) this.#fullAt.delete(quietest);
  }
}
