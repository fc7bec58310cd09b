import { readFile } from "node:fs/promises";
import type { KeysOfHands, OutcomeOnRecord, ReceiptVerdict } from "@vidro/brain/home";
import { asFault, Fault, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { countWords } from "@vidro/core/text";
import type { Json } from "@vidro/core";
import { paint } from "../../view/symbols.ts";
import { print, writeJson } from "../../program/output.ts";

/** Result of checking outcomes against their receipts. */
export interface ReceiptSum {
  /** Valid receipts. */
  receipts: number;
  /** Valid receipts of outcomes from which a secret was removed. */
  redacted: number;
  /** Outcomes without a receipt from hands that sign. */
  missing: number;
  /** Outcomes that differ from what their hand signed. */
  unsigned: number;
}

/** What receipts cannot prove. */
export const RECEIPT_CAVEAT =
  "Not shown by receipts: what a hand that lies has done, outcomes of hands without a key (this machine's own, executors), outcomes that are gone together with their receipts, and words that a secret was removed from.";

/** Counts verdicts on receipts and prints those that do not fit. */
export class ReceiptCount {
  readonly sum: ReceiptSum = { receipts: 0, redacted: 0, missing: 0, unsigned: 0 };
  readonly #isJson: boolean;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  take({ run, seq, event }: OutcomeOnRecord, verdict: ReceiptVerdict): void {
    const { sum } = this;
    if (verdict === "none") return;
    if (verdict === "missing") sum.missing += 1;
    else if (typeof verdict === "string") sum.receipts += 1;
    if (verdict === "redacted") sum.redacted += 1;
    if (typeof verdict === "string") return;
    sum.unsigned += 1;
    const finding = `action ${event.action}, entry ${seq} of run ${run}, ${verdict.wrong}`;
    if (this.#isJson) writeJson({ ok: false, run_id: run, unsigned: finding });
    else print(`${paint("red", "unsigned")} ${finding}`);
  }
}

/** The counts in one sentence. */
export function receiptWords({ receipts, redacted, missing, unsigned }: ReceiptSum): string {
  const parts = [
    `${countWords(receipts, "receipt")} of hands fit`,
    ...(redacted === 0 ? [] : [`${redacted} of them without the words that secrets were removed from`]),
    ...(missing === 0 ? [] : [`${countWords(missing, "outcome")} without one from hands that sign`]),
    ...(unsigned === 0 ? [] : [`${countWords(unsigned, "outcome")} not as signed`]),
  ];
  return `${parts.join(", ")}.`;
}

/** Reads public keys as `vidro audit keys` and `vidro-hand key` print them; BAD_REQUEST for any other line. */
export async function readHandKeys(file: string): Promise<KeysOfHands> {
  const { keysByHand } = await import("@vidro/brain/home");
  const keys = (await readNumberedLines(file)).map(({ value: line, number }) => {
    const { hand, key, since = 0 } = isObject(line) ? line : {};
    if (typeof hand === "string" && typeof key === "string" && typeof since === "number") return { hand, key, since };
    throw new Fault(
      "BAD_REQUEST",
      `Line ${number} of ${file} is no key: one has "hand", its id at the brain, and "key".`,
    );
  });
  return keysByHand(keys);
}

/** Reads a file with one JSON value in each line. */
export async function readJsonLines(file: string): Promise<readonly Json[]> {
  return (await readNumberedLines(file)).map(({ value }) => value);
}

/** The values of a file with one in each line, with the numbers of their lines; empty lines are left out and count. */
async function readNumberedLines(file: string): Promise<readonly { readonly value: Json; readonly number: number }[]> {
  const text = await readFile(file, "utf8").catch((cause: Error) => {
    throw new Fault("BAD_REQUEST", `${file} cannot be read: ${cause.message}`, { cause });
  });
  return text.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    try {
      return [{ value: parseJson(line), number: at + 1 }];
    } catch (cause) {
      throw new Fault("BAD_REQUEST", `Line ${at + 1} of ${file} is no JSON: ${asFault(cause).message}`, { cause });
    }
  });
}
