import { once } from "node:events";
import { FAULTS, OUTPUT_LIMITS } from "@vidro/core";
import { boundedLines, jsonLine, printable } from "@vidro/core/text";
import type { FaultCode, FaultReport, FaultRow } from "@vidro/core";
import { EXIT } from "./exit-codes.ts";
import { toTerminal } from "../view/control-sequences.ts";
import { paint } from "../view/symbols.ts";

/*
 * All that a command writes leaves here: words through `shown`, values as JSON in which nothing is left that a terminal
 * would obey.
 */

/** Lines for people go to stderr, whatever stdout is; what is not read in time is dropped. */
export function say(...lines: readonly string[]): void {
  write(linesOf(lines));
}

/** Lines of a command's own on stdout. */
export function print(...lines: readonly string[]): void {
  process.stdout.write(linesOf(lines));
}

/** What stands before the place where a person types, on stdout. */
export function prompt(text: string): void {
  process.stdout.write(toTerminal(text));
}

/** A text of others as lines: all but the first stand behind a margin, so that none passes for a line of ours. */
export function indentText(text: string, margin: number): readonly string[] {
  const [first = "", ...others] = printable(text).split("\n");
  return [first, ...others.map((line) => `${" ".repeat(margin)}${line}`)];
}

/** Lines as they are written: a break within one is not ours, and would make a row that there is not. */
function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${toTerminal(line).replaceAll(/\s*\n\s*/g, " ")}\n`).join("");
}

/** What a command on a host has said: a program gets all of it, a terminal nothing that it would obey. */
export function passOutput(stream: "stdout" | "stderr", text: string): void {
  const to = process[stream];
  to.write(to.isTTY ? printable(text) : text);
}

const write = boundedLines(process.stderr, (count) => `(${count} earlier lines were not read in time.)\n`);

/** Waits while too much of what was written to stdout has yet to be read; ends early when the signal fires. */
export async function waitForReader(signal?: AbortSignal): Promise<void> {
  const isUnread = (): boolean => process.stdout.writableLength > OUTPUT_LIMITS.unreadBytes && signal?.aborted !== true;
  while (isUnread()) {
    const waiting = signal === undefined ? once(process.stdout, "drain") : once(process.stdout, "drain", { signal });
    // A signal that fires ends the wait; what is wrong with stdout is told to those who watch it.
    await waiting.catch(() => undefined);
  }
}

/** One value as one line of JSON on stdout. */
export function writeJson(value: unknown): void {
  writeLine(jsonLine(value));
}

/** A line that `jsonLine` has made, on stdout. */
export function writeLine(line: string): void {
  process.stdout.write(line);
}

/** A line that `jsonLine` has made, on stderr; what is not read in time is dropped, and `dropped` says how much. */
export function openErrorLines(dropped: (count: number) => string): (line: string) => void {
  return boundedLines(process.stderr, dropped);
}

/** The row of a fault in the table; a code that only a newer brain has is shown as it is. */
export function faultRow(code: string): Pick<FaultRow, "says" | "next" | "exit"> {
  if (Object.hasOwn(FAULTS, code)) return FAULTS[code as FaultCode];
  return { says: `The brain reports ${code}.`, next: "Use the vidro of the brain's own version.", exit: EXIT.failed };
}

/** Behind `why:` and `vidro:`. */
const FAULT_MARGIN = 7;

/** Faults about what was typed: the message says it all. */
const TYPED_EXITS: readonly number[] = [2, 3];

/** Tells a person what happened, why, and what to do next. */
export function sayFault(fault: FaultReport, next: string = faultRow(fault.code).next): void {
  const { says, exit } = faultRow(fault.code);
  const { message } = fault;
  const headline = TYPED_EXITS.includes(exit) ? message : says;
  say(...indentText(`${paint(["red", "bold"], "vidro:", process.stderr)} ${headline}`, FAULT_MARGIN));
  if (message !== headline) say(...indentText(`  why: ${message}`, FAULT_MARGIN));
  say(`  next: ${next}`);
}

/** A fault that comes before there is a run, for programs. */
export function faultLine(fault: FaultReport): { type: "error"; code: string; message: string; next: string } {
  return { type: "error", code: fault.code, message: fault.message, next: FAULTS[fault.code].next };
}
