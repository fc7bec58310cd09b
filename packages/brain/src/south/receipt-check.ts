import { createPublicKey, hash, verify } from "node:crypto";
import { endFacts, endOfEvent, endWords, isObject, receiptText } from "@vidro/core";
import { REDACTED } from "@vidro/core/redact";
import type { Entry, Event, Json, Receipt } from "@vidro/core";
import type { OutcomeEvent } from "@vidro/core/run";
import type { ReceiptKey } from "./receipt-keys.ts";

/*
 * Whether the outcomes in a journal are those that hands have signed. All that is needed is in the outcome itself and in
 * the public keys: no store, no brain and no hand.
 */

/** An outcome in a journal, and what is needed to hold it against its receipt. */
export interface OutcomeOnRecord {
  readonly run: string;
  readonly seq: number;
  readonly at: number;
  /** The ids of the hands that the run worked with. */
  readonly hands: readonly string[];
  /** The hash that the action was judged under; nothing when it was not. */
  readonly plan?: string;
  readonly event: OutcomeEvent;
}

/** What a receipt came to: it fits, it fits as far as no secret was removed, there is none where one was due, or why not. */
export type ReceiptVerdict = "sound" | "redacted" | "missing" | "none" | { readonly wrong: string };

/** The keys of hands by their ids. */
export type KeysOfHands = ReadonlyMap<string, readonly Pick<ReceiptKey, "key" | "since">[]>;

/** Keys as they are looked up. */
export function keysByHand(keys: readonly Pick<ReceiptKey, "hand" | "key" | "since">[]): KeysOfHands {
  return Map.groupBy(keys, ({ hand }) => hand);
}

/** The outcomes in the entries of a run, each as it comes. */
export class Outcomes {
  readonly #run: string;
  #hands: readonly string[] = [];
  #judged: { readonly action: string; readonly hash: string } | undefined;

  constructor(run: string) {
    this.#run = run;
  }

  /** The outcome that an entry is, if it is one. */
  of({ seq, at, event }: Entry): OutcomeOnRecord | undefined {
    if (event.type === "run.started") this.#hands = event.hand.split(",");
    if (event.type === "policy.judged") this.#judged = event;
    if (!isOutcome(event)) return undefined;
    const plan = this.#judged?.action === event.action ? { plan: this.#judged.hash } : {};
    return { run: this.#run, seq, at, hands: this.#hands, ...plan, event };
  }
}

function isOutcome(event: Event): event is OutcomeEvent {
  return event.type === "action.finished" || event.type === "action.failed" || event.type === "action.unknown";
}

/** Holds an outcome against its receipt, and the receipt against the keys of the hands. */
export function checkReceipt(outcome: OutcomeOnRecord, keys: KeysOfHands): ReceiptVerdict {
  const { event } = outcome;
  if (event.receipt === undefined) return isDue(outcome, keys) ? "missing" : "none";
  const { receipt } = event;
  const wrong = whyNotSigned(receipt, outcome, keys) ?? whyAnother(receipt, outcome);
  if (wrong !== undefined) return { wrong };
  const ended = endOfEvent(event);
  if (sha256(endFacts(ended)) !== receipt.outcome) return { wrong: "is not the outcome that the hand signed" };
  const words = endWords(ended);
  if (sha256(words) === receipt.words) return "sound";
  return words.includes(REDACTED) ? "redacted" : { wrong: "has other words than the hand signed" };
}

function whyNotSigned(receipt: Receipt, { hands }: OutcomeOnRecord, keys: KeysOfHands): string | undefined {
  if (!hands.some((hand) => keys.get(hand)?.some(({ key }) => key === receipt.key) === true))
    return `has a receipt by the key ${receipt.key}, which is not one of its hand's`;
  return isSigned(receipt) ? undefined : "has a receipt whose signature is wrong";
}

function whyAnother({ run, action, plan }: Receipt, outcome: OutcomeOnRecord): string | undefined {
  if (run !== outcome.run || action !== outcome.event.action)
    return `has the receipt of action ${action} of run ${run}`;
  // A hand that was stopped while the action ran does not know the plan any more, and says only that it knows nothing.
  const isLost = plan === "" && outcome.event.type === "action.unknown";
  return isLost || plan === outcome.plan ? undefined : "has a receipt for another plan than the one that was judged";
}

/** A finished action has a receipt where every hand of its run had come with a key before. */
function isDue({ hands, at, event }: OutcomeOnRecord, keys: KeysOfHands): boolean {
  if (event.type !== "action.finished" || hands.length === 0) return false;
  return hands.every((hand) => keys.get(hand)?.some(({ since }) => since <= at) === true);
}

/** What stands before the key in a public key of Ed25519 (RFC 8410). */
const SPKI = "302a300506032b6570032100";

function isSigned(receipt: Receipt): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(SPKI + receipt.key, "hex"), format: "der", type: "spki" });
    return verify(null, Buffer.from(receiptText(receipt)), key, Buffer.from(receipt.signature, "hex"));
  } catch {
    return false;
  }
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** The outcome in a line of an export; nothing when it is none. */
export function outcomeIn(line: Json): OutcomeOnRecord | undefined {
  if (!isObject(line) || typeof line["run"] !== "string" || typeof line["seq"] !== "number") return undefined;
  const { event, hands } = line;
  if (!Array.isArray(hands) || !isObject(event) || !isOutcome(event as unknown as Event)) return undefined;
  return line as unknown as OutcomeOnRecord;
}
