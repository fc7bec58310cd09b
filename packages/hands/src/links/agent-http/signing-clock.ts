import { Fault, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";

/**
 * The clock that a hand signs by. When the brain says that it is off, it goes by the brain's from then on: what is
 * old is the brain's to judge, by its own clock, and nothing else on this host looks at this one.
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

  /** Goes by the time that a brain has said and signed, and tells by how much that differs; CLOCK_SKEW beyond reason. */
  adopt(serverTimeS: Json | undefined): number {
    const offsetMs = typeof serverTimeS === "number" ? serverTimeS * 1000 - this.#now() : Number.NaN;
    if (!(Math.abs(offsetMs) <= SIGNED_HTTP_LIMITS.offsetMs))
      throw new Fault("CLOCK_SKEW", "The clock of this host is more than a day off: set it, then start again.");
    this.#offsetMs = offsetMs;
    return offsetMs;
  }
}
