import type { Order } from "../ports.ts";

/*
 * A warrant is an approval as a hand can check it: the brain's signature over the hand, the run, the action, the plan and
 * the ledger that it is for, and over the time after which it is void. All but the last two parts are in the order.
 */

/** What a warrant is for. */
export interface WarrantTerms {
  /** The hand that is to believe it. */
  readonly hand: string;
  readonly order: Pick<Order, "run" | "action" | "approved" | "ledger">;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What is signed: no other text that a brain signs begins like this. */
export function warrantText({ hand, order, expiresAt }: WarrantTerms): string {
  const { run, action, approved = "", ledger = "" } = order;
  return JSON.stringify(["vidro-approval-1", hand, run, action.id, approved, ledger, expiresAt]);
}

/** What a hand that listens for TCP is called in it: no id of a hand that joined looks like this. */
export function tcpHandName(id: string): string {
  return `tcp:${id}`;
}

/** A warrant as it is sent. */
export interface Warrant {
  readonly expiresAt: number;
  /** ECDSA over P-256 with SHA-256, r and s in 64 bytes, in base64url. */
  readonly signature: string;
}

/** The text of a warrant. */
export function formatWarrant({ expiresAt, signature }: Warrant): string {
  return `${expiresAt}.${signature}`;
}

/** The warrant in a text; nothing when it is none. */
export function parseWarrant(text: string): Warrant | undefined {
  const [, expiresAt, signature] = /^(\d{1,15})\.([\w-]{86})$/.exec(text) ?? [];
  return signature === undefined ? undefined : { expiresAt: Number(expiresAt), signature };
}
