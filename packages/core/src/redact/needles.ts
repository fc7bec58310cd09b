import { REDACT_LIMITS } from "../limits.ts";
import { runOf } from "./scan.ts";
import type { Finder, Hit, Tail } from "./scan.ts";

interface Needle {
  /** The part that is searched for: the beginning of the secret, as far as a stream may hold back. */
  readonly head: string;
  readonly tail: Tail;
}

const TABLE_SIZE = 8192;
/** In a longer base64 text the characters behind a secret are redacted too: the first one has bits of the secret. */
const BASE64_TAIL = runOf("[A-Za-z0-9+/=_-]");
const encoder = new TextEncoder();

/** Finds known secrets, plain and in their common encodings. */
export function needleFinder(secrets: readonly string[]): Finder {
  const needles = secrets.filter((secret) => secret.length >= REDACT_LIMITS.secretChars).flatMap(formsOf);
  return needles.length === 0 ? nothing : searchFor(needles);
}

const nothing: Finder = { find: () => undefined, open: (text) => text.length, certain: (_text, open) => open };

/**
 * Wu and Manber's search: it looks at two characters at the end of a window and mostly may jump by the whole window,
 * so its cost hardly depends on the number of needles.
 */
function searchFor(needles: readonly Needle[]): Finder {
  const window = Math.min(...needles.map((needle) => needle.head.length));
  const jumps = new Uint16Array(TABLE_SIZE).fill(window - 1);
  const ending = new Map<number, Needle[]>();
  for (const needle of needles.toSorted((a, b) => b.head.length - a.head.length)) {
    const pair = pairAt(needle.head, window - 1);
    const same = ending.get(pair);
    if (same === undefined) ending.set(pair, [needle]);
    else same.push(needle);
  }
  const isStart = new Uint8Array(TABLE_SIZE);
  for (const { head } of needles) isStart[pairAt(head, 1)] = 1;
  for (const { head } of needles) {
    for (let at = 1; at < window; at++) {
      const pair = pairAt(head, at);
      jumps[pair] = Math.min(jumps[pair] ?? 0, window - 1 - at);
    }
  }

  function find(text: string, from: number): Hit | undefined {
    let at = from + window - 1;
    while (at < text.length) {
      const pair = pairAt(text, at);
      const jump = jumps[pair] ?? 0;
      const index = at - window + 1;
      const needle = jump > 0 ? undefined : ending.get(pair)?.find(({ head }) => text.startsWith(head, index));
      if (needle !== undefined) return { index, from: index, to: index + needle.head.length, tail: needle.tail };
      at += Math.max(1, jump);
    }
    return undefined;
  }

  return {
    find,
    open(text, from) {
      for (let at = Math.max(from, text.length - REDACT_LIMITS.holdChars + 1); at < text.length; at++) {
        // The last character has no other to make a pair with.
        if (at + 1 < text.length && isStart[pairAt(text, at + 1)] === 0) continue;
        const rest = text.slice(at);
        if (needles.some(({ head }) => head.length > rest.length && head.startsWith(rest))) return at;
      }
      return text.length;
    },
    certain: (_text, open) => open,
  };
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << 6) ^ text.charCodeAt(at)) & (TABLE_SIZE - 1);
}

function formsOf(secret: string): Needle[] {
  const bytes = encoder.encode(secret);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const pairs = hex.match(/../g) ?? [];
  const url = encodeURIComponent(secret.toWellFormed());
  const literal = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    hex,
    hex.toUpperCase(),
    ...[" ", ":"].map((between) => pairs.join(between)),
    pairs.map((pair) => `%${pair.toUpperCase()}`).join(""),
    url,
    url.replaceAll("%20", "+"),
    url.replaceAll(/%../g, (code) => code.toLowerCase()),
  ];
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset));
  const base64url = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  return [
    ...[...new Set(literal)].map((text) => ({ head: text.slice(0, REDACT_LIMITS.holdChars), tail: restOf(text) })),
    ...[...new Set([...base64, ...base64url])].map((text) => ({
      head: text.slice(0, REDACT_LIMITS.holdChars),
      tail: BASE64_TAIL,
    })),
  ];
}

/** The base64 of bytes that come `offset` bytes behind others: only the characters that no neighbour changes. */
function base64At(bytes: Uint8Array, offset: number): string {
  const text = btoa("\0".repeat(offset) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** The rest of a literal secret behind its head. */
function restOf(text: string): Tail {
  const rest = text.slice(REDACT_LIMITS.holdChars);
  return {
    eat(found, from, { eaten }) {
      let to = from;
      while (to < found.length && eaten + to - from < rest.length && found[to] === rest[eaten + to - from]) to++;
      return { to, done: to < found.length || eaten + to - from === rest.length };
    },
  };
}
