import { OrderMemory } from "./order-memory.ts";

const HAND_PREFIX = "executor:";

/** The id of the hand that is the executor of a session. */
export function executorHandId(session: string): string {
  return `${HAND_PREFIX}${session}`;
}

/** The session whose executor is a hand; undefined for a hand that is no executor. */
export function executorSessionOf(hand: string): string | undefined {
  return hand.startsWith(HAND_PREFIX) ? hand.slice(HAND_PREFIX.length) : undefined;
}

/** The memories of executors, by session. */
export class ExecutorMemories {
  readonly #memories = new Map<string, OrderMemory>();

  /** The memory of a session; a new one knows the action that the executor may still have. */
  async of(session: string, openAction: () => Promise<string | undefined>): Promise<OrderMemory> {
    const known = this.#memories.get(session);
    if (known !== undefined) return known;
    const open = await openAction();
    // Another connection of the session may have come meanwhile: what it orders has to be known to this one.
    const memory = this.#memories.get(session) ?? new OrderMemory();
    if (open !== undefined) memory.markGiven(open);
    this.#memories.set(session, memory);
    return memory;
  }

  /** Forgets a session. */
  delete(session: string): void {
    this.#memories.delete(session);
  }
}
