import { REDACT_LIMITS } from "../limits.ts";
import type { Finder, Hit } from "./scan.ts";
import { NO_TAIL } from "./shape.ts";

/*
 * A private key without its first line: lines of base64 before `-----END … PRIVATE KEY`. No pattern of bounded length
 * matches them, and the end marker is rare: it is searched for, and the lines before it are read backwards.
 */

const MARK = "-----END ";
const END = /-----END [A-Z0-9 ]{0,32}PRIVATE KEY/y;
const END_CUT_OFF = /-(?:-{0,4}|-{4}E(?:N(?:D(?: [A-Z0-9 ]{0,43})?)?)?)$/;
const END_CHARS = 64;
/** Least number of characters of every line but the last. */
const LINE_CHARS = 40;
/** Characters of the first line that are shown, so that a stream does not have to hold back every word. */
const SHOWN_CHARS = 11;

/** Finds the lines of a private key before its end. */
export const keyEndFinder: Finder = {
  find(text, from): Hit | undefined {
    for (let at = text.indexOf(MARK, from); at >= 0; at = text.indexOf(MARK, at + 1)) {
      END.lastIndex = at;
      const start = END.test(text) ? blockStart(text, { end: at, from, isOpen: false }) : undefined;
      if (start !== undefined) return { index: start, from: start + SHOWN_CHARS, to: at, tail: NO_TAIL };
    }
    return undefined;
  },
  open(text, from) {
    const cut = END_CUT_OFF.exec(text.slice(Math.max(from, text.length - END_CHARS)));
    let end = cut === null ? text.length : text.length - cut[0].length;
    while (end > from && text[end - 1] === "\\") end -= 1;
    return blockStart(text, { end, from, isOpen: true }) ?? text.length;
  },
  certain: (text, open) => Math.min(text.length, open + SHOWN_CHARS),
};

/**
 * Where the lines of base64 begin that stand right before `end`; undefined if there are none. `isOpen`: the last line
 * may go on behind `end`, and any word may be the beginning of one.
 */
function blockStart(
  text: string,
  { end, from, isOpen }: { end: number; from: number; isOpen: boolean },
): number | undefined {
  const floor = Math.max(from, end - REDACT_LIMITS.keyBlockChars);
  let at = end;
  let start: number | undefined;
  let isLast = true;
  if (isOpen) {
    at = runStart(text, end, floor);
    if (at < end) [start, isLast] = [at, false];
  }
  for (;;) {
    const lineEnd = breakStart(text, at, floor);
    if (lineEnd === undefined) return start;
    at = runStart(text, lineEnd, floor);
    const chars = lineEnd - at;
    if (chars === 0 || (chars < LINE_CHARS && !isLast)) return start;
    if (chars >= LINE_CHARS) start = at;
    isLast = false;
  }
}

/** Where the run of base64 begins that ends at `end`; the letter of an escaped line end before it is no part of it. */
function runStart(text: string, end: number, floor: number): number {
  let at = end;
  while (at > floor && isBase64(text.charCodeAt(at - 1))) at -= 1;
  return at > 0 && at < end && text[at - 1] === "\\" && isLineLetter(text[at]) ? at + 1 : at;
}

/** Where the line ends begin, and the spaces around them, that stand right before `end`; undefined if none do. */
function breakStart(text: string, end: number, floor: number): number | undefined {
  let at = end;
  let start: number | undefined;
  while (at > floor) {
    const letter = text[at - 1];
    if (letter === "\n" || letter === "\r") start = at -= 1;
    else if (letter === " " || letter === "\t") at -= 1;
    else if (isLineLetter(letter) && text[at - 2] === "\\" && at - 2 >= floor) {
      at -= 2;
      while (at > floor && text[at - 1] === "\\") at -= 1;
      start = at;
    } else break;
  }
  return start;
}

function isLineLetter(letter: string | undefined): boolean {
  return letter === "n" || letter === "r";
}

/** Whether a code is that of a character of base64: a letter, a digit, or one of `+`, `/` and `=`. */
function isBase64(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 47 && code <= 57) || code === 43 || code === 61;
}
