import { HAND_LIMITS } from "@vidro/core";
import { headOf, tailOf } from "@vidro/core/text";
import { LineRegex } from "./regex/regex.ts";

/** Finds places in a text; `required` is contained in every file that has one. */
export interface LineFinder {
  readonly required: string;
  /** A place in the first matching line at or after the start of a line; -1 if there is none. */
  find(text: string, from: number): number;
}

/** A matching line with the lines around it that no other match shows. */
export type LineMatch = {
  readonly line: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
};

/** A search of lines. */
interface LineQuery {
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly ignoreCase: boolean;
}

/** Compiles a query; throws BAD_ARGUMENTS for a regular expression that is not known here. */
export function lineFinder({ pattern, isRegex, ignoreCase }: LineQuery): LineFinder {
  if (isRegex) return new LineRegex(pattern, ignoreCase);
  if (!ignoreCase) return { required: pattern, find: (text, from) => text.indexOf(pattern, from) };
  return new LineRegex(pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"), true);
}

/** The matching lines of a text in their order, with up to `context` lines around each. */
export function* findLines(text: string, finder: LineFinder, context: number): Generator<LineMatch> {
  let [line, counted, shownTo] = [1, 0, 0];
  let found = nextLine(text, finder, 0);
  while (found !== undefined) {
    const here: LinePlace = found;
    line += countLineEnds(text, counted, here.start);
    counted = here.start;
    found = nextLine(text, finder, here.end + 1);
    const match = { line, text: excerpt(text.slice(here.start, here.end), here.at - here.start) };
    if (context === 0) {
      yield match;
      continue;
    }
    const before = linesBefore(text, here.start, { most: context, from: shownTo });
    const after = linesAfter(text, here.end + 1, { most: context, to: found?.start ?? text.length });
    shownTo = Math.min(text.length, here.end + 1 + after.reduce((sum, one) => sum + one.length + 1, 0));
    yield { ...match, before: before.map(shorten), after: after.map(shorten) };
  }
}

/** Where a matching line begins and ends, and where its match is. */
interface LinePlace {
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

function nextLine(text: string, finder: LineFinder, from: number): LinePlace | undefined {
  const at = from > text.length ? -1 : finder.find(text, from);
  // What follows the last line end is no line.
  if (at === -1 || (from === text.length && from > 0)) return undefined;
  const end = text.indexOf("\n", at);
  return { start: text.lastIndexOf("\n", at - 1) + 1, end: end === -1 ? text.length : end, at };
}

function countLineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function linesBefore(text: string, start: number, { most, from }: { most: number; from: number }): string[] {
  const lines: string[] = [];
  for (let end = start - 1; lines.length < most && end >= from && end >= 0;) {
    const begin = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    lines.unshift(text.slice(begin, end));
    end = begin - 1;
  }
  return lines;
}

function linesAfter(text: string, start: number, { most, to }: { most: number; to: number }): string[] {
  const lines: string[] = [];
  for (let begin = start; lines.length < most && begin < to;) {
    const end = text.indexOf("\n", begin);
    lines.push(text.slice(begin, end === -1 ? text.length : end));
    begin = (end === -1 ? text.length : end) + 1;
  }
  return lines;
}

function shorten(line: string): string {
  return excerpt(line, 0);
}

/** The part of a line around a place in it. */
function excerpt(line: string, at: number): string {
  const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (whole.length <= HAND_LIMITS.lineChars) return whole;
  const from = Math.max(0, Math.min(at - HAND_LIMITS.lineChars / 4, whole.length - HAND_LIMITS.lineChars));
  const to = from + HAND_LIMITS.lineChars;
  const shown = headOf(tailOf(whole, whole.length - from), to - from);
  return `${from > 0 ? "…" : ""}${shown}${to < whole.length ? "…" : ""}`;
}
