import { HANDS } from "@vidro/core";
import type { JsonObject, Order, Records, StoredRecord } from "@vidro/core";

const KIND = "hand-stop";
/** Records that are read at once. */
const PAGE = 1000;

/** Whose work is to be stopped. */
interface Whose {
  readonly id: string;
  readonly owner: string;
}

/**
 * The orders of a hand whose work is to be ended and of which the hand has not said so yet: of runs that were aborted
 * while it was away. They are durable, so that a brain that starts again still tells the hand.
 */
export class Stops {
  readonly #records: Records | undefined;
  readonly #orders: Map<string, Order>;

  constructor(records?: Records, orders: readonly Order[] = []) {
    this.#records = records;
    this.#orders = new Map(orders.map((order) => [order.action.id, order]));
  }

  /** What is to be stopped, oldest first. */
  get all(): readonly Order[] {
    return [...this.#orders.values()];
  }

  /** Keeps an order to be stopped, durable when it resolves; the oldest goes when there are too many. */
  async add(hand: Whose, order: Order): Promise<void> {
    const [oldest] = this.#orders.keys();
    if (this.#orders.size >= HANDS.stops && oldest !== undefined) await this.drop(oldest);
    this.#orders.set(order.action.id, order);
    const body = { hand: hand.id, order: order as unknown as JsonObject };
    await this.#records?.put({ kind: KIND, id: order.action.id, owner: hand.owner, body });
  }

  /** The hand has ended it, or never began it. */
  async drop(action: string): Promise<void> {
    if (this.#orders.delete(action)) await this.#records?.delete(KIND, action);
  }
}

/** What is to be stopped on each hand, as it is on record. */
export async function readStops(records: Records): Promise<(hand: string) => Stops> {
  const orders = new Map<string, Order[]>();
  for (let after: string | undefined; ;) {
    const page = await records.list(KIND, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const record of page) {
      const { hand, order } = bodyOf(record);
      orders.set(hand, [...(orders.get(hand) ?? []), order]);
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE) return (hand) => new Stops(records, orders.get(hand));
  }
}

function bodyOf({ body }: StoredRecord): { readonly hand: string; readonly order: Order } {
  return body as unknown as { hand: string; order: Order };
}
