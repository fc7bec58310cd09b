import { boundedLines, jsonLine, printable } from "@vidro/core/text";

/* All output of a hand to a terminal. Text from brains and files is in it, so control characters are replaced. */

/** Writes a line for people to stderr, or to the log file; lines that a slow reader does not take are dropped. */
export function printNote(text: string): void {
  write(`${printable(text)}\n`);
}

let write = boundedLines(process.stderr, (count) => `(${count} earlier lines were not read in time.)\n`);

/** Sends notes to a log file from now on, each with its time. */
export function logNotes(writeLine: (line: string) => void): void {
  write = (line) => writeLine(`${new Date().toISOString()} ${line}`);
}

/** Writes text to stdout, without adding a line end. */
export function printVerbatim(text: string): void {
  process.stdout.write(printable(text));
}

/** Writes a value as one line of JSON to stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(jsonLine(value));
}

/** Writes a value as one line of JSON to stderr; lines that a slow reader does not take are dropped and counted. */
export const writeLogLine: (value: object) => void = (value) => log(jsonLine(value));

const log = boundedLines(process.stderr, (dropped) =>
  jsonLine({
    level: "warn",
    event: "log.dropped",
    message: "Lines of the log were dropped because their reader was too slow.",
    dropped,
  }),
);
