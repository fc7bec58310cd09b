import { createPublicKey, hash, verify } from "node:crypto";
import { endFacts, endOfEvent, endWords, isObject, receiptText } from "@vidro/core";
import { REDACTED } from "@vidro/core/redact";
import type { Entry, Event, Json, Receipt } from "@vidro/core";
import type { OutcomeEvent } from "@vidro/core/run";
import type { ReceiptKey } from "./receipt-keys.ts";

/*
 * Checks whether the outcomes in a journal are those that hands have signed. It needs the outcome and the public keys
 * only: no store, no brain and no hand.
 */

/** An outcome in a journal, with what the check of its receipt needs. */
export interface OutcomeOnRecord {
  readonly run: string;
  readonly seq: number;
  readonly at: number;
  /** The ids of the hands that the run worked with. */
  readonly hands: readonly string[];
  /** The hash of the judged plan; undefined when the action was not judged. */
  readonly plan?: string;
  readonly event: OutcomeEvent;
}

/**
 * sound: the receipt fits. redacted: it fits except for the words, from which a secret was removed. missing: there is
 * none though one is due. none: none is due. wrong: why it does not fit.
 */
export type ReceiptVerdict = "sound" | "redacted" | "missing" | "none" | { readonly wrong: string };

/** The keys of hands by their ids. */
export type KeysOfHands = ReadonlyMap<string, readonly Pick<ReceiptKey, "key" | "since">[]>;

/** Groups keys by hand. */
export function keysByHand(keys: readonly Pick<ReceiptKey, "hand" | "key" | "since">[]): KeysOfHands {
  return Map.groupBy(keys, ({ hand }) => hand);
}

/** Finds the outcomes in the entries of a run, fed in order. */
export class OutcomeReader {
  readonly #run: string;
  #hands: readonly string[] = [];
  #judged: { readonly action: string; readonly hash: string } | undefined;

  constructor(run: string) {
    this.#run = run;
  }

  /** Takes the next entry; returns its outcome when it is one. */
  read({ seq, at, event }: Entry): OutcomeOnRecord | undefined {
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

/** Checks an outcome against its receipt, and the receipt against the keys of the hands. */
export function checkReceipt(outcome: OutcomeOnRecord, keys: KeysOfHands): ReceiptVerdict {
  try {
    return compareReceipt(outcome, keys);
  } catch {
    // A line of an export may have any shape: an outcome without its facts is not the one that was signed.
    return { wrong: "is malformed" };
  }
}

function compareReceipt(outcome: OutcomeOnRecord, keys: KeysOfHands): ReceiptVerdict {
  const { event } = outcome;
  if (event.receipt === undefined) return isDue(outcome, keys) ? "missing" : "none";
  const { receipt } = event;
  const wrong = whyNotSigned(receipt, outcome, keys) ?? whyMismatched(receipt, outcome);
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

function whyMismatched({ run, action, plan }: Receipt, outcome: OutcomeOnRecord): string | undefined {
  if (run !== outcome.run || action !== outcome.event.action)
    return `has the receipt of action ${action} of run ${run}`;
  // A hand that was stopped while the action ran has lost the plan; it signs an unknown outcome without one.
  const isLost = plan === "" && outcome.event.type === "action.unknown";
  return isLost || plan === outcome.plan ? undefined : "has a receipt for another plan than the one that was judged";
}

/** A receipt is due for a finished action when every hand of the run had shown a receipt key before. */
function isDue({ hands, at, event }: OutcomeOnRecord, keys: KeysOfHands): boolean {
  if (event.type !== "action.finished" || hands.length === 0) return false;
  return hands.every((hand) => keys.get(hand)?.some(({ since }) => since <= at) === true);
}

/** The SPKI prefix of an Ed25519 public key (RFC 8410). */
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

/** The outcome in a line of an export; undefined when the line holds none. */
export function outcomeIn(line: Json): OutcomeOnRecord | undefined {
  if (!isObject(line) || typeof line["run"] !== "string" || typeof line["seq"] !== "number") return undefined;
  const { event, hands } = line;
  if (!Array.isArray(hands) || !isObject(event) || !isOutcome(event as unknown as Event)) return undefined;
  return line as unknown as OutcomeOnRecord;
}
