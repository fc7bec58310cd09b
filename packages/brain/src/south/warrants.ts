import { REGISTER_LIMITS } from "@vidro/core";
import { isRecall } from "@vidro/core/run";
import type { Order } from "@vidro/core";
import { formatWarrant, warrantText } from "@vidro/core/wire/warrant";
import type { Authority } from "./enrolment/authority.ts";

/** Adds the brain's signature to an approved order; without an approval or a key the order is unchanged. */
export type Warrants = (hand: string, order: Order) => Promise<Order>;

/** Signs approvals with the key of the authority that hands have pinned; without an authority none is signed. */
export function makeWarrants(
  authority: () => Promise<Pick<Authority, "sign"> | undefined>,
  now: () => number,
): Warrants {
  return async (hand, order) => {
    // A recall starts nothing, so that it needs no approval.
    if (order.approved === undefined || isRecall(order)) return order;
    const signer = await authority();
    if (signer === undefined) return order;
    const expiresAt = now() + REGISTER_LIMITS.warrantMs;
    const signature = signer.sign(warrantText({ hand, order, expiresAt }));
    return { ...order, warrant: formatWarrant({ expiresAt, signature }) };
  };
}
