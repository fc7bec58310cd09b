import { uptime } from "node:os";
import { REGISTER_LIMITS } from "@vidro/core";
import type { Order } from "@vidro/core";

/*
 * After the machine slept or the process was stopped, sockets contain messages of unknown age. The time that the
 * process was away is the greatest age of a message that it reads right afterwards.
 */

/** Measures how long this process was suspended. */
class SleepDetector {
  #lookedAt = bootMs();
  /** Time of the suspension that the last measurement found; 0 if none. */
  #awayMs = 0;

  constructor() {
    setInterval(() => this.#measure(), REGISTER_LIMITS.awakeMs).unref();
  }

  /** Shortens the time to live of an order that was just read by the time of a suspension right before. */
  subtractSleep(order: Order): Order {
    const sinceMs = bootMs() - this.#lookedAt;
    const ageMs = isSleep(sinceMs) ? sinceMs : this.#awayMs;
    return ageMs === 0 ? order : { ...order, ttlMs: Math.max(0, order.ttlMs - ageMs) };
  }

  #measure(): void {
    const now = bootMs();
    const sinceMs = now - this.#lookedAt;
    // After a suspension, either this timer or a message may be handled first.
    this.#awayMs = isSleep(sinceMs) ? sinceMs : 0;
    this.#lookedAt = now;
  }
}

/** A busy event loop delays the timer too, but not by this much. */
const isSleep = (sinceMs: number): boolean => sinceMs > 2 * REGISTER_LIMITS.awakeMs;

/** Uptime continues while the machine sleeps, unlike timers, and cannot be set, unlike the wall clock. */
function bootMs(): number {
  return uptime() * 1000;
}

let watch: SleepDetector | undefined;

/** The detector of this process; it measures from the first call on. */
export function sleepDetector(): SleepDetector {
  return (watch ??= new SleepDetector());
}
