import { monitorEventLoopDelay } from "node:perf_hooks";
import { HEALTH_LIMITS, SECOND_MS } from "@vidro/core";

const NANOSECONDS = 1e9;

/** How late the event loop was in the last minute: reading it changes nothing, so that two readers see the same. */
export class LoopLag {
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  /** The worst of each second that is over, oldest first. */
  readonly #seconds: number[] = [];
  readonly #timer = setInterval(() => this.#turn(), SECOND_MS).unref();

  constructor() {
    this.#delay.enable();
  }

  /** The worst delay that is remembered. */
  worstSeconds(): number {
    return Math.max(0, this.#delay.max, ...this.#seconds) / NANOSECONDS;
  }

  /** Stops measuring. */
  close(): void {
    clearInterval(this.#timer);
    this.#delay.disable();
  }

  #turn(): void {
    this.#seconds.push(this.#delay.max);
    this.#delay.reset();
    if (this.#seconds.length > HEALTH_LIMITS.lagSeconds) this.#seconds.shift();
  }
}
