import { REDACT_LIMITS } from "../limits.ts";
import { BEHIND_CHARS, REDACTED, runOf } from "./scan.ts";
import type { Finder, Hit, Tail } from "./scan.ts";
import { shapeFinder } from "./shapes.ts";

/*
 * Secrets in percent-encoded text, such as `password%3D…`. Around percent codes the text is decoded once and searched
 * for the shapes of secrets. A match counts if it covers a code and begins at most `HEAD_CHARS` before it. What stands
 * before that code, and its `%`, is shown: a stream cannot hold back every word because a code might follow it.
 */

const CODE = /%[0-9A-Fa-f]{2}/g;
const CODE_CHARS = 3;
const HEAD_CHARS = 16;
/** A match has at most `holdChars` characters, and each of them may be encoded. */
const AHEAD_CHARS = CODE_CHARS * REDACT_LIMITS.holdChars;
/** Codes within so many characters are decoded together. */
const CLUSTER_CHARS = 8192;
const BREAK = /\s/g;
/** The rest of a secret in base64 that was found up to a percent code. */
const REST = /%(?:2[BbFf]|3[Dd])[A-Za-z0-9]{16}/y;
const REST_TAIL = encodedTail(runOf("[A-Za-z0-9+/=_-]"));

/** Finds percent-encoded secrets. */
export const percentFinder: Finder = {
  find(text, from) {
    for (let first = codeFrom(text, from); first !== undefined;) {
      const cluster = clusterOf(text, first);
      const hit = hitIn(text, cluster);
      if (hit !== undefined) return hit;
      first = codeFrom(text, cluster.last + 1);
    }
    return undefined;
  },
  open(text, from) {
    const floor = Math.max(from, text.length - AHEAD_CHARS);
    if (!text.includes("%", floor)) return text.length;
    const start = wordStart(text, floor);
    const cut = text.indexOf("%", Math.max(start, text.length - CODE_CHARS + 1));
    return Math.min(codeFrom(text, start) ?? text.length, cut < 0 ? text.length : cut);
  },
  certain: (text, open) => Math.min(text.length, open + 1),
};

/** Codes that stand close to each other, with no space between them, and how far a match that covers one can reach. */
interface Cluster {
  readonly first: number;
  readonly last: number;
  readonly end: number;
}

function codeFrom(text: string, from: number): number | undefined {
  CODE.lastIndex = from;
  return CODE.exec(text)?.index;
}

function clusterOf(text: string, first: number): Cluster {
  BREAK.lastIndex = first;
  const limit = first + CLUSTER_CHARS + AHEAD_CHARS;
  const wordEnd = BREAK.exec(text.slice(0, limit))?.index ?? Math.min(text.length, limit);
  const word = text.slice(0, wordEnd);
  let last = first;
  for (;;) {
    const next = codeFrom(word, last + CODE_CHARS);
    if (next === undefined || next - last > BEHIND_CHARS || next - first > CLUSTER_CHARS) break;
    last = next;
  }
  return { first, last, end: Math.min(wordEnd + 1, last + AHEAD_CHARS, text.length) };
}

/** The first word's beginning from which no space stands before the end of the text. */
function wordStart(text: string, floor: number): number {
  const tail = text.slice(floor);
  return floor + tail.length - tail.replace(/^[^]*\s/, "").length;
}

function hitIn(text: string, { first, last, end }: Cluster): Hit | undefined {
  const start = Math.max(0, first - BEHIND_CHARS);
  const { decoded, places } = decode(text, start, end);
  const placeOf = (at: number): number => places[at] ?? end;
  const rest = restIn(text, first, last);
  for (let hit = shapeFinder.find(decoded, 0); hit !== undefined; hit = shapeFinder.find(decoded, hit.index + 1)) {
    const index = placeOf(hit.index);
    if (index > (rest?.index ?? last)) return rest;
    const code = codeFrom(text, index) ?? end;
    const to = placeOf(hit.to);
    const from = Math.max(placeOf(hit.from), code + 1);
    if (code >= first && code < to && code - index <= HEAD_CHARS && from < to)
      return { index: code, from, to, tail: encodedTail(hit.tail) };
  }
  return rest;
}

function restIn(text: string, first: number, last: number): Hit | undefined {
  const part = text.slice(0, last);
  for (let at = part.indexOf(REDACTED, first - REDACTED.length); at >= 0; at = part.indexOf(REDACTED, at + 1)) {
    const index = at + REDACTED.length;
    REST.lastIndex = index;
    if (index >= first && REST.test(text)) return { index, from: index + 1, to: REST.lastIndex, tail: REST_TAIL };
  }
  return undefined;
}

/** A part of a text decoded once, and the place in the text of each of its characters. */
function decode(text: string, start: number, end: number): { decoded: string; places: readonly number[] } {
  const places: number[] = [];
  let decoded = "";
  for (let at = start; at < end;) {
    places.push(at);
    const byte = byteAt(text, at, end);
    // Letters with accents, in names of secrets, have two bytes.
    const second = byte === 0xc2 || byte === 0xc3 ? byteAt(text, at + CODE_CHARS, end) : undefined;
    if (byte === undefined) decoded += text[at];
    else if (second !== undefined) decoded += String.fromCharCode(((byte & 3) << 6) | (second & 63));
    else decoded += byte < 128 ? String.fromCharCode(byte) : "\ufffd";
    at += byte === undefined ? 1 : second === undefined ? CODE_CHARS : 2 * CODE_CHARS;
  }
  return { decoded, places };
}

/** The byte of the code at a place; undefined when there is none. */
function byteAt(text: string, at: number, end: number): number | undefined {
  if (text[at] !== "%" || at + CODE_CHARS > end) return undefined;
  const digits = text.slice(at + 1, at + CODE_CHARS);
  return /^[0-9A-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** The rest of a secret whose shape has that tail: decoded, up to the end of the word, and bounded as a private key is. */
function encodedTail(tail: Tail): Tail {
  return {
    eat(text, from, { eaten, last }) {
      BREAK.lastIndex = from;
      const limit = from + REDACT_LIMITS.privateKeyChars - eaten;
      const wordEnd = Math.min(BREAK.exec(text)?.index ?? Infinity, limit);
      const isWhole = wordEnd <= text.length || last;
      const cut = isWhole ? -1 : text.indexOf("%", Math.max(from, text.length - CODE_CHARS + 1));
      const end = Math.min(wordEnd, cut < 0 ? text.length : cut);
      const { decoded, places } = decode(text, from, end);
      const { to, done } = tail.eat(decoded, 0, { eaten: 0, last: isWhole });
      return { to: places[to] ?? end, done: done || isWhole };
    },
  };
}
