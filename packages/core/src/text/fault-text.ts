import { FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";

/** What each fault says and what to do next, in one language. */
export type FaultWords = { readonly [Code in FaultCode]: FaultSentences };

/** What happened, and what to do next. */
type FaultSentences = readonly [says: string, next: string];

/** The words of a failure as a person reads them. */
export interface FaultText {
  /** What happened, in the reader's language. */
  readonly says: string;
  /** What to do next; absent for a failure that is not of the table. */
  readonly next?: string;
  /** The English words of this one failure, where the general sentence stands in their place. */
  readonly detail?: string;
}

/**
 * A failure in words. In English its own message says what happened; in another language the sentence of its code does,
 * and the message is a detail. A code that the table does not have leaves the message alone.
 */
export function faultText(fault: { readonly code: string; readonly message: string }, words?: FaultWords): FaultText {
  const { code, message } = fault;
  if (!isFaultCode(code)) return { says: message };
  const { says: english, next } = FAULTS[code];
  if (words === undefined) return { says: message, ...(message.includes(next) ? {} : { next }) };
  const [says, nextHere] = words[code];
  return { says, next: nextHere, ...(message === english ? {} : { detail: message }) };
}

/** What a fault of that code says in general, in English unless words are given; undefined for a code without a row. */
export function faultSentence(code: string, words?: FaultWords): string | undefined {
  if (!isFaultCode(code)) return undefined;
  return words === undefined ? FAULTS[code].says : words[code][0];
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(FAULTS, code);
}
