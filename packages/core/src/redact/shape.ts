import { charRun, literal } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";
import { runOf } from "./scan.ts";
import type { Tail } from "./scan.ts";

/** The pattern of a kind of secret. */
export interface Shape {
  /** The source of a lookbehind, of at most 15 characters; a shape without one begins where a word does. */
  readonly behind?: string;
  /** The class of the character right before, as a fast check before `behind`. */
  readonly previous?: string;
  /** The prefix, which is not replaced: it says what the secret was. */
  readonly before?: Pattern;
  /** The source of lookaheads that `secret` must pass; they see no farther than `secret` can reach. */
  readonly unless?: string;
  readonly secret: Pattern;
  readonly after?: Pattern;
  readonly tail: Tail;
}

/** For a shape that may begin inside a word. */
export const ANYWHERE = "";

/**
 * The beginning of a word: after any character but a letter, and after escapes and colour codes, which end in letters.
 */
export const WORD_BEGINS = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]{1,8}m))`;

/** The character before a word: not a letter, or the last one of an escape, a percent code or a colour code. */
export const BEFORE_WORD = "[^GHIJKLMNOPQRSTUVWXYZg-lo-qsu-z_-]";

/** The tail of a secret that ends with its match. */
export const NO_TAIL: Tail = { eat: (_text, from) => ({ to: from, done: true }) };

/** The tail of keys made of letters, digits, `-` and `_`. */
export const NAME_TAIL = runOf("[A-Za-z0-9_-]");

/** How far the lookaheads of a value see, and so how far a stream waits for its end. */
export const VALUE_CHARS = 64;

/** A key that is recognised by its prefix; it goes on as long as its own characters, or those of a name, do. */
export function key(prefix: string, set: string, chars: number): Shape {
  return { secret: [...literal(prefix), charRun(set, chars)], tail: runOf(`(?:${set}|[A-Za-z0-9_-])`) };
}

/** A lookahead: one of the next characters of a class is a digit. */
export function hasDigit(set: string): string {
  return `(?=${set}{0,40}[0-9])`;
}

/** A lookahead for random values without digits: unlike in words, lower case changes to upper case twice, close together. */
export const HAS_MIXED_CASE =
  "(?=[A-Z+/_-]{0,8}[a-z]{1,8}[A-Z]{1,8}[a-z]{1,8}[A-Z])(?=[a-z]{0,4}(?:[A-Z][a-z]{0,3}){4}[A-Z])";
