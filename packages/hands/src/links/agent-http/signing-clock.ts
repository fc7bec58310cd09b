import { Fault, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";

/**
 * The clock for signatures. When the brain reports a skew, it follows the brain's time from then on, because the brain
 * checks the age of messages by its own clock. It is used for nothing else.
 */
export class SigningClock {
  readonly #now: () => number;
  #offsetMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#now() + this.#offsetMs;
  }

  /** Adopts the time in a signed reply and returns the offset; throws CLOCK_SKEW if it is more than a day. */
  adopt(serverTimeS: Json | undefined): number {
    const offsetMs = typeof serverTimeS === "number" ? serverTimeS * 1000 - this.#now() : Number.NaN;
    if (!(Math.abs(offsetMs) <= SIGNED_HTTP_LIMITS.offsetMs))
      throw new Fault("CLOCK_SKEW", "The clock of this host is more than a day off: set it, then start again.");
    this.#offsetMs = offsetMs;
    return offsetMs;
  }
}
