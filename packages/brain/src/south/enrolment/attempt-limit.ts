import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Bus } from "@vidro/core";

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

/** How attempts at other brains are heard of. */
interface SharedAttempts {
  /** Without one, only attempts at this brain count. */
  readonly bus: Pick<Bus, "publish" | "subscribe"> | undefined;
  /** What is attempted. */
  readonly what: string;
}

/** Counts attempts by name, such as an address, at all brains on the bus; RATE_LIMITED above the limit. */
export class AttemptLimit {
  readonly #bounds: AttemptBounds;
  readonly #now: () => number;
  /** When each name has its full burst again; ordered by the last attempt, oldest first. */
  readonly #fullAt = new Map<string, number>();
  readonly #tell: (name: string) => void;

  /** `now` must be monotonic. */
  constructor(bounds: AttemptBounds, now: () => number = () => performance.now(), shared?: SharedAttempts) {
    this.#bounds = bounds;
    this.#now = now;
    const topic = `attempts:${shared?.what ?? ""}`;
    this.#tell = (name) => shared?.bus?.publish(topic, name);
    shared?.bus?.subscribe(topic, (name) => this.#count(name, this.#nextFullAt(name)));
  }

  /** Counts one attempt of a name. */
  takeAttempt(name: string): void {
    const { burst, everyMs } = this.#bounds;
    const fullAt = this.#nextFullAt(name);
    const retryAfterMs = fullAt - this.#now() - burst * everyMs;
    if (retryAfterMs > 0) throw new Fault("RATE_LIMITED", "Too many attempts; wait and try again.", { retryAfterMs });
    this.#count(name, fullAt);
    this.#tell(name);
  }

  #nextFullAt(name: string): number {
    const now = this.#now();
    return Math.max(now, this.#fullAt.get(name) ?? now) + this.#bounds.everyMs;
  }

  #count(name: string, fullAt: number): void {
    const { kept } = this.#bounds;
    this.#fullAt.delete(name);
    this.#fullAt.set(name, fullAt);
    const [quietest] = this.#fullAt.keys();
    if (this.#fullAt.size > kept && quietest !== undefined) this.#fullAt.delete(quietest);
  }
}
