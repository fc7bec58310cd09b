import { boundedLines, jsonLine, printable } from "@vidro/core/text";

/* All that a hand writes to a terminal leaves here: words of brains and files are in it, and none that it would obey. */

/** Words for people, on stderr; what is not read in time is dropped. */
export function printNote(text: string): void {
  write(`${printable(text)}\n`);
}

const write = boundedLines(process.stderr, (count) => `(${count} earlier lines were not read in time.)\n`);

/** A command's own words, exactly as they are given, on stdout. */
export function printText(text: string): void {
  process.stdout.write(printable(text));
}

/** One value as one line of JSON on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(jsonLine(value));
}

/** Writes values as lines of JSON to stderr; what is not read in time is dropped, and told how much it was. */
export const writeLogLine: (value: object) => void = (value) => log(jsonLine(value));

const log = boundedLines(process.stderr, (dropped) =>
  jsonLine({
    level: "warn",
    event: "log.dropped",
    message: "Lines of the log were dropped because their reader was too slow.",
    dropped,
  }),
);
