import { REGISTER_LIMITS } from "@vidro/core";
import type { JsonObject, Order, Records } from "@vidro/core";

const KIND = "hand-stop";

/** An order to stop, and its hand. */
type Stop = { readonly hand: string; readonly order: Order };

/**
 * Orders of aborted runs that their hands have not yet stopped, because they were away. Durable, so that a restarted
 * brain still sends the stop; the oldest are dropped when there are too many.
 */
export class PendingStops {
  readonly #records: Records | undefined;
  /** By action, oldest first. */
  readonly #stops = new Map<string, Stop>();

  constructor(records?: Records) {
    this.#records = records;
  }

  /** Reads the stops from the store. */
  async load(): Promise<void> {
    for (const { id, body } of (await this.#records?.list(KIND, { limit: REGISTER_LIMITS.stops })) ?? [])
      this.#stops.set(id, body as unknown as Stop);
  }

  /** The orders to stop on a hand. */
  of(hand: string): readonly Order[] {
    return [...this.#stops.values()].flatMap((stop) => (stop.hand === hand ? [stop.order] : []));
  }

  /** Adds an order to stop; durable when it resolves. */
  async add({ id: hand, owner }: { readonly id: string; readonly owner: string }, order: Order): Promise<void> {
    const [oldest] = this.#stops.keys();
    if (this.#stops.size >= REGISTER_LIMITS.stops && oldest !== undefined) await this.drop(oldest);
    const { id } = order.action;
    this.#stops.set(id, { hand, order });
    await this.#records?.put({ kind: KIND, id, owner, body: { hand, order } as unknown as JsonObject });
  }

  /** Removes an action that the hand has ended or never began. */
  async drop(action: string): Promise<void> {
    if (this.#stops.delete(action)) await this.#records?.delete(KIND, action);
  }
}
