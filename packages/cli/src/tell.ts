import { once } from "node:events";
import { styleText } from "node:util";
import { boundedLines, FAULTS, jsonLine, OUTPUT, printable } from "@vidro/core";
import type { FaultReport } from "@vidro/core";

/** Words for people go to stderr, whatever stdout is; what is not read in time is dropped. */
export function say(text: string): void {
  write(`${text}\n`);
}

const write = boundedLines(process.stderr, (count) => `(${count} earlier lines were not read in time.)\n`);

/** Waits while too much of what was written to stdout has yet to be read; ends early when the signal fires. */
export async function outputRead(signal?: AbortSignal): Promise<void> {
  const isUnread = (): boolean => process.stdout.writableLength > OUTPUT.unreadBytes && signal?.aborted !== true;
  while (isUnread()) {
    const waiting = signal === undefined ? once(process.stdout, "drain") : once(process.stdout, "drain", { signal });
    // A signal that fires ends the wait; what is wrong with stdout is told to those who watch it.
    await waiting.catch(() => undefined);
  }
}

/** One value as one line of JSON on stdout. */
export function sayJson(value: unknown): void {
  process.stdout.write(jsonLine(value));
}

/** Faults about what was typed: the message says it all. */
const TYPED_EXITS: readonly number[] = [2, 3];

/** Tells a person what happened, why, and what to do next. */
export function sayFault(fault: FaultReport, next: string = FAULTS[fault.code].next): void {
  const { says, exit } = FAULTS[fault.code];
  const message = printable(fault.message);
  const headline = TYPED_EXITS.includes(exit) ? message : says;
  say(`${styleText(["red", "bold"], "vidro:", { stream: process.stderr })} ${headline}`);
  if (message !== headline) say(`  why: ${message}`);
  say(`  next: ${next}`);
}

/** A fault that comes before there is a run, for programs. */
export function faultLine(fault: FaultReport): { type: "error"; code: string; message: string; next: string } {
  return { type: "error", code: fault.code, message: fault.message, next: FAULTS[fault.code].next };
}
