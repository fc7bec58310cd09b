import { uptime } from "node:os";
import { REGISTER_LIMITS } from "@vidro/core";
import type { Order } from "@vidro/core";

/*
 * A machine that sleeps, or a process that is stopped, finds what came meanwhile in its sockets, and nothing there says
 * how old it is. The time that a process was away is the age that anything may have which it reads right after.
 */

/** Knows whether this process was awake. */
class SleepDetector {
  #lookedAt = bootMs();
  /** How long it was away before the last look. */
  #awayMs = 0;

  constructor() {
    setInterval(() => this.#measure(), REGISTER_LIMITS.awakeMs).unref();
  }

  /** An order that was read now, good for what is left of its time if it came at the beginning of a sleep. */
  subtractSleep(order: Order): Order {
    const sinceMs = bootMs() - this.#lookedAt;
    const ageMs = isSleep(sinceMs) ? sinceMs : this.#awayMs;
    return ageMs === 0 ? order : { ...order, ttlMs: Math.max(0, order.ttlMs - ageMs) };
  }

  #measure(): void {
    const now = bootMs();
    const sinceMs = now - this.#lookedAt;
    // Whether this or a message is first after a sleep, nobody knows.
    this.#awayMs = isSleep(sinceMs) ? sinceMs : 0;
    this.#lookedAt = now;
  }
}

/** A process that is only busy comes late, but not that late. */
const isSleep = (sinceMs: number): boolean => sinceMs > 2 * REGISTER_LIMITS.awakeMs;

/** Unlike the clock of timers it goes on while the machine sleeps, and unlike the wall clock nobody sets it. */
function bootMs(): number {
  return uptime() * 1000;
}

let watch: SleepDetector | undefined;

/** The one of this process; it watches from the first call on. */
export function sleepDetector(): SleepDetector {
  return (watch ??= new SleepDetector());
}
