import type { Order } from "../ports.ts";

/*
 * A warrant is an approval as a hand can check it: the brain's signature over the hand, the run, the action, the plan and
 * the ledger that it is for, and over the time after which it is void. All but the last two parts are in the order.
 */

/** The terms that a warrant signs. */
export interface WarrantTerms {
  /** The hand that it is issued for. */
  readonly hand: string;
  readonly order: Pick<Order, "run" | "action" | "approved" | "ledger">;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The signed text. Its prefix is used for no other signature of a brain. */
export function warrantText({ hand, order, expiresAt }: WarrantTerms): string {
  const { run, action, approved = "", ledger = "" } = order;
  return JSON.stringify(["vidro-approval-1", hand, run, action.id, approved, ledger, expiresAt]);
}

/** The name of a TCP hand in a warrant; ids of joined hands never have this form. */
export function tcpHandName(id: string): string {
  return `tcp:${id}`;
}

/** A warrant, parsed. */
export interface Warrant {
  readonly expiresAt: number;
  /** ECDSA over P-256 with SHA-256, r and s in 64 bytes, in base64url. */
  readonly signature: string;
}

/** The text of a warrant. */
export function formatWarrant({ expiresAt, signature }: Warrant): string {
  return `${expiresAt}.${signature}`;
}

/** Parses a warrant; undefined when the text is not one. */
export function parseWarrant(text: string): Warrant | undefined {
  const [, expiresAt, signature] = /^(\d{1,15})\.([\w-]{86})$/.exec(text) ?? [];
  return signature === undefined ? undefined : { expiresAt: Number(expiresAt), signature };
}
