import { monitorEventLoopDelay } from "node:perf_hooks";
import { HEALTH_LIMITS, SECOND_MS } from "@vidro/core";

const NANOSECONDS = 1e9;

/** Longest delay of the event loop in the last minute; reading does not reset it, so two readers see the same. */
export class LoopLag {
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  /** Longest delay of each past second, oldest first. */
  readonly #seconds: number[] = [];
  readonly #timer = setInterval(() => this.#turn(), SECOND_MS).unref();

  constructor() {
    this.#delay.enable();
  }

  /** The longest delay in the window. */
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
