import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";

/** How often something may be tried. */
interface TriesBounds {
  /** At once. */
  readonly burst: number;
  /** How long one more takes after that. */
  readonly everyMs: number;
  /** Names that are counted; the one that was quiet the longest is forgotten. */
  readonly kept: number;
}

/** Limits of requests for a certificate, by address. */
export const ENROL_ATTEMPTS: TriesBounds = {
  burst: SOUTHBOUND_LIMITS.enrolBurst,
  everyMs: SOUTHBOUND_LIMITS.enrolEveryMs,
  kept: SOUTHBOUND_LIMITS.enrolAddresses,
};

/** Counts attempts by name, such as an address; RATE_LIMITED above the limit. */
export class AttemptLimit {
  readonly #bounds: TriesBounds;
  readonly #now: () => number;
  /** When each name would have all its tries again, the latest to try last. */
  readonly #fullAt = new Map<string, number>();

  /** `now` never goes back, whatever becomes of the clock on the wall. */
  constructor(bounds: TriesBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** One try of that name. */
  takeAttempt(name: string): void {
    const { burst, everyMs, kept } = this.#bounds;
    const now = this.#now();
    const fullAt = Math.max(now, this.#fullAt.get(name) ?? now) + everyMs;
    const retryAfterMs = fullAt - now - burst * everyMs;
    if (retryAfterMs > 0) throw new Fault("RATE_LIMITED", "That was tried too often; wait a moment.", { retryAfterMs });
    this.#fullAt.delete(name);
    this.#fullAt.set(name, fullAt);
    const [quietest] = this.#fullAt.keys();
    if (this.#fullAt.size > kept && quietest !== undefined) this.#fullAt.delete(quietest);
  }
}
