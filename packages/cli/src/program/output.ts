import { once } from "node:events";
import type { WriteStream } from "node:tty";
import { FAULTS, OUTPUT_LIMITS } from "@vidro/core";
import { boundedLines, jsonLine, printable } from "@vidro/core/text";
import type { FaultCode, FaultReport, FaultRow } from "@vidro/core";
import { EXIT } from "./exit-codes.ts";
import { toTerminal } from "../view/control-sequences.ts";
import { paint } from "../view/symbols.ts";

/*
 * Everything that a command writes leaves through this file: text by `toTerminal`, values as JSON; neither can carry
 * control sequences of others to the terminal.
 */

/** Writes lines for people to stderr; lines that are not read in time are dropped. */
export function say(...lines: readonly string[]): void {
  write(linesOf(lines));
}

/** Writes a text of any number of lines for people to stderr; lines that are not read in time are dropped. */
export function sayText(text: string): void {
  for (const line of toTerminal(text).split("\n")) write(`${line}\n`);
}

/** Writes a text to stdout, for programs and files: without control sequences, and else as it is. */
export function printText(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** The terminal of the person at this command: stdout, or stderr when stdout goes to a program or a file. */
export function peopleStream(): WriteStream {
  return process.stdout.isTTY ? process.stdout : process.stderr;
}

/** Writes lines to stdout. */
export function print(...lines: readonly string[]): void {
  process.stdout.write(linesOf(lines));
}

/** Writes the prompt before a person's input to their terminal. */
export function prompt(text: string): void {
  peopleStream().write(toTerminal(text));
}

/** Splits a foreign text into lines and indents all but the first, so that none looks like a line of this command. */
export function indentText(text: string, margin: number): readonly string[] {
  const [first = "", ...others] = printable(text).split("\n");
  return [first, ...others.map((line) => `${" ".repeat(margin)}${line}`)];
}

/** Joins lines; a line break within one, which comes from foreign text, becomes a space. */
function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${toTerminal(line).replaceAll(/\s*\n\s*/g, " ")}\n`).join("");
}

/** Passes on output of a command on a host: unchanged to a program, without control sequences to a terminal. */
export function passOutput(stream: "stdout" | "stderr", text: string): void {
  const to = process[stream];
  to.write(to.isTTY ? printable(text) : text);
}

const write = boundedLines(process.stderr, (count) => `(${count} earlier lines were not read in time.)\n`);

/** Waits while stdout holds more unread bytes than the limit; ends early when the signal fires. */
export async function waitForReader(signal?: AbortSignal): Promise<void> {
  const isUnread = (): boolean => process.stdout.writableLength > OUTPUT_LIMITS.unreadBytes && signal?.aborted !== true;
  while (isUnread()) {
    const waiting = signal === undefined ? once(process.stdout, "drain") : once(process.stdout, "drain", { signal });
    // The signal ends the wait; errors of stdout are handled by `watchOutput`.
    await waiting.catch(() => undefined);
  }
}

/** Writes one value as one line of JSON to stdout. */
export function writeJson(value: unknown): void {
  writeLine(jsonLine(value));
}

/** Writes a line made by `jsonLine` to stdout. */
export function writeLine(line: string): void {
  process.stdout.write(line);
}

/** Gives a writer of `jsonLine` lines to stderr; lines not read in time are dropped and counted by the line `dropped`. */
export function openErrorLines(dropped: (count: number) => string): (line: string) => void {
  return boundedLines(process.stderr, dropped);
}

/** The row of a fault in the table; a code that only a newer brain has is shown as it is. */
export function faultRow(code: string): Pick<FaultRow, "says" | "next" | "exit"> {
  if (Object.hasOwn(FAULTS, code)) return FAULTS[code as FaultCode];
  return { says: `The brain reports ${code}.`, next: "Use the vidro of the brain's own version.", exit: EXIT.failed };
}

/** Indent of further lines below `why:` and `vidro:`. */
const FAULT_MARGIN = 7;

/** Exit codes of faults about the command line, whose message is the headline. */
const TYPED_EXITS: readonly number[] = [2, 3];

/** Prints what happened, why, and what to do next. */
export function sayFault(fault: FaultReport, next: string = faultRow(fault.code).next): void {
  const { says, exit } = faultRow(fault.code);
  const { message } = fault;
  const headline = TYPED_EXITS.includes(exit) ? message : says;
  say(...indentText(`${paint(["red", "bold"], "vidro:", process.stderr)} ${headline}`, FAULT_MARGIN));
  if (message !== headline) say(...indentText(`  why: ${message}`, FAULT_MARGIN));
  say(`  next: ${next}`);
}

/** A fault as a line of JSON, for commands that fail before there is a run. */
export function faultLine(fault: FaultReport): { type: "error"; code: string; message: string; next: string } {
  return { type: "error", code: fault.code, message: fault.message, next: FAULTS[fault.code].next };
}
