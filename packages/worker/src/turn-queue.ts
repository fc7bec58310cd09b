import { Fault, WORKER_LIMITS } from "@vidro/core";

/** A generation that waits for a slot. */
interface WaitingGeneration {
  /** The slot that has evaluated its conversation before, if any. */
  readonly favourite: number | undefined;
  readonly start: (slot: number) => void;
}

/**
 * Gives the slots of an engine to generations in the order in which they came. A connection has one at a time and goes
 * to the end of the queue with its next, so that none is held up for longer than one turn of each other connection.
 * A generation gets the slot that knows its conversation when that one is free.
 */
export class TurnQueue {
  readonly #free: number[];
  readonly #waiting: WaitingGeneration[] = [];

  constructor(slots: number) {
    this.#free = Array.from({ length: slots }, (_, slot) => slot);
  }

  /** Waits for a slot; rejects when the signal aborts, and with MODEL_RATE_LIMITED when too many wait. */
  async take(favourite: number | undefined, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (this.#waiting.length >= WORKER_LIMITS.waiting)
      throw new Fault("MODEL_RATE_LIMITED", `${WORKER_LIMITS.waiting} generations wait already.`);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiting: WaitingGeneration = { favourite, start: resolve };
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.push(waiting);
    this.#next();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** Gives a slot back; of the free ones it is the last to be taken by another conversation. */
  release(slot: number): void {
    this.#free.push(slot);
    this.#next();
  }

  #next(): void {
    while (this.#free.length > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const at = next.favourite === undefined ? 0 : Math.max(0, this.#free.indexOf(next.favourite));
      next.start(this.#free.splice(at, 1)[0]!);
    }
  }
}
