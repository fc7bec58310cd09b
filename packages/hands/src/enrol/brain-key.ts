import { verify, X509Certificate } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { asFault, Fault } from "@vidro/core";
import type { Order } from "@vidro/core";
import { parseWarrant, warrantText } from "@vidro/core/wire/warrant";

/** Public key of the only brain whose approvals this hand accepts. */
export interface BrainKey {
  readonly key: KeyObject;
  /** The name of this hand in signed approvals. */
  readonly hand: string;
}

/** Reads the key from the PEM certificate of a brain's authority; throws BAD_REQUEST if it is none. */
export function readBrainKey(certificate: string, hand: string): BrainKey {
  try {
    return { key: new X509Certificate(certificate).publicKey, hand };
  } catch (cause) {
    const why = `The brain's certificate cannot be read: ${asFault(cause).message}. Print it: vidro hands authority`;
    throw new Fault("BAD_REQUEST", why, { cause });
  }
}

/** Verifies the approval of an order with the brain's key; an invalid one is returned in `unproven`. */
export function checkApproval(order: Order, brain: BrainKey | undefined, now: number): Order {
  const why = order.approved === undefined ? undefined : approvalFault(order, brain, now);
  return why === undefined ? order : { ...order, unproven: why.report() };
}

function approvalFault(order: Order, brain: BrainKey | undefined, now: number): Fault | undefined {
  if (brain === undefined) return new Fault("APPROVAL_INVALID", "This hand knows no key that could approve.");
  if (order.warrant === undefined)
    return new Fault("APPROVAL_INVALID", "The approval is not signed. A brain of an older version signs none.");
  const warrant = parseWarrant(order.warrant);
  if (warrant === undefined) return new Fault("APPROVAL_INVALID", "The signature of the approval cannot be read.");
  const { expiresAt, signature } = warrant;
  const text = Buffer.from(warrantText({ hand: brain.hand, order, expiresAt }));
  const key = { key: brain.key, dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", text, key, Buffer.from(signature, "base64url"))) return new Fault("APPROVAL_INVALID");
  if (now < expiresAt) return undefined;
  const ended = `The approval ended at ${new Date(expiresAt).toISOString()}`;
  return new Fault("APPROVAL_EXPIRED", `${ended}; by this host's clock it is ${new Date(now).toISOString()}.`);
}
