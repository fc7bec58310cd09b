import { REGISTER_LIMITS } from "@vidro/core";
import type { ActionEnd } from "@vidro/core";

/**
 * What the brain remembers of an executor between its connections: the orders that it may have received, and results
 * that came while no order waited for them.
 */
export class OrderMemory {
  readonly #given = new Set<string>();
  readonly #early = new Map<string, ActionEnd>();

  /** Whether the executor may have received the order of an action. */
  wasGiven(action: string): boolean {
    return this.#given.has(action);
  }

  /** Notes that an order is about to be sent; the oldest is forgotten when there are too many. */
  markGiven(action: string): void {
    this.#given.delete(action);
    const [oldest] = this.#given;
    if (this.#given.size >= REGISTER_LIMITS.orders && oldest !== undefined) this.#given.delete(oldest);
    this.#given.add(action);
  }

  /** Keeps an end that no order waits for; the oldest is dropped when there are too many. */
  keepEnd(action: string, ended: ActionEnd): void {
    const [oldest] = this.#early.keys();
    if (this.#early.size >= REGISTER_LIMITS.orders && oldest !== undefined) this.#early.delete(oldest);
    this.#early.set(action, ended);
  }

  /** Removes and returns the end of an action that was kept. */
  takeEnd(action: string): ActionEnd | undefined {
    const ended = this.#early.get(action);
    this.#early.delete(action);
    return ended;
  }

  /** Forgets an action whose outcome is durable. */
  forget(action: string): void {
    this.#given.delete(action);
    this.#early.delete(action);
  }
}
