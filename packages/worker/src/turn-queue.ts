import { Fault, WORKER_LIMITS } from "@vidro/core";

/** A generation that waits for a slot. */
interface Waiting {
  /** Whose turn it takes. */
  readonly client: number;
  /** The slot that has evaluated its conversation before, if any. */
  readonly favourite: number | undefined;
  readonly start: (slot: number) => void;
}

/**
 * Gives the slots of an engine to generations. Turns go round the clients, so that a client with many sessions does not
 * hold up another; a generation gets the slot that knows its conversation when that one is free.
 */
export class TurnQueue {
  readonly #free: number[];
  readonly #waiting: Waiting[] = [];
  /** Clients by their last turn, the most recent last. */
  #served: number[] = [];

  constructor(slots: number) {
    this.#free = Array.from({ length: slots }, (_, slot) => slot);
  }

  /** Waits for a slot; rejects when the signal aborts, and with MODEL_RATE_LIMITED when too many wait. */
  async take(client: number, favourite: number | undefined, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    if (this.#waiting.length >= WORKER_LIMITS.waiting)
      throw new Fault("MODEL_RATE_LIMITED", `${WORKER_LIMITS.waiting} generations wait already.`);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiting: Waiting = { client, favourite, start: resolve };
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at !== -1) this.#waiting.splice(at, 1);
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

  /** Gives a slot back; it is the last to be taken by another conversation. */
  release(slot: number): void {
    this.#free.push(slot);
    this.#next();
  }

  #next(): void {
    while (this.#free.length > 0 && this.#waiting.length > 0) {
      const turn = (one: Waiting): number => this.#served.indexOf(one.client);
      const least = Math.min(...this.#waiting.map(turn));
      const [next] = this.#waiting.splice(
        this.#waiting.findIndex((one) => turn(one) === least),
        1,
      );
      const at = this.#free.indexOf(next!.favourite ?? -1);
      const [slot] = this.#free.splice(Math.max(at, 0), 1);
      const present = new Set(this.#waiting.map(({ client }) => client));
      this.#served = [...this.#served.filter((one) => one !== next!.client && present.has(one)), next!.client];
      next!.start(slot!);
    }
  }
}
