import { REGISTER_LIMITS } from "@vidro/core";
import type { JsonObject, Order, Records } from "@vidro/core";

const KIND = "hand-stop";

/** An order whose work is to be ended, and where. */
type Stop = { readonly hand: string; readonly order: Order };

/**
 * Orders whose work is to be ended on hands that have not said yet that it is: of runs that were aborted while the hand
 * was away. They are durable, so that a brain that starts again still tells the hand; the oldest go when there are too
 * many.
 */
export class PendingStops {
  readonly #records: Records | undefined;
  /** By action, oldest first. */
  readonly #stops = new Map<string, Stop>();

  constructor(records?: Records) {
    this.#records = records;
  }

  /** Reads what an earlier brain has left. */
  async load(): Promise<void> {
    for (const { id, body } of (await this.#records?.list(KIND, { limit: REGISTER_LIMITS.stops })) ?? [])
      this.#stops.set(id, body as unknown as Stop);
  }

  /** What is to be stopped on a hand. */
  of(hand: string): readonly Order[] {
    return [...this.#stops.values()].flatMap((stop) => (stop.hand === hand ? [stop.order] : []));
  }

  /** Keeps an order to be stopped; durable when it resolves. */
  async add({ id: hand, owner }: { readonly id: string; readonly owner: string }, order: Order): Promise<void> {
    const [oldest] = this.#stops.keys();
    if (this.#stops.size >= REGISTER_LIMITS.stops && oldest !== undefined) await this.drop(oldest);
    const { id } = order.action;
    this.#stops.set(id, { hand, order });
    await this.#records?.put({ kind: KIND, id, owner, body: { hand, order } as unknown as JsonObject });
  }

  /** The hand has ended it, or never began it. */
  async drop(action: string): Promise<void> {
    if (this.#stops.delete(action)) await this.#records?.delete(KIND, action);
  }
}
