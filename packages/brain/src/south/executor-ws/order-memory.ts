import { REGISTER_LIMITS } from "@vidro/core";
import type { ActionEnd } from "@vidro/core";

/**
 * What a brain remembers of an executor from one connection to the next: which orders it may have, and ends that came
 * before they were asked for.
 */
export class Memory {
  readonly #given = new Set<string>();
  readonly #early = new Map<string, ActionEnd>();

  /** Whether the executor may have got the order. */
  wasGiven(action: string): boolean {
    return this.#given.has(action);
  }

  /** The executor is about to get the order. */
  gives(action: string): void {
    if (this.#given.size < REGISTER_LIMITS.orders) this.#given.add(action);
  }

  /** Keeps an end that nobody waits for yet; the oldest goes when there are too many. */
  keep(action: string, ended: ActionEnd): void {
    const [oldest] = this.#early.keys();
    if (this.#early.size >= REGISTER_LIMITS.orders && oldest !== undefined) this.#early.delete(oldest);
    this.#early.set(action, ended);
  }

  /** An end that came early, once. */
  take(action: string): ActionEnd | undefined {
    const ended = this.#early.get(action);
    this.#early.delete(action);
    return ended;
  }

  /** The action is over: nobody asks for it any more. */
  forget(action: string): void {
    this.#given.delete(action);
    this.#early.delete(action);
  }
}
