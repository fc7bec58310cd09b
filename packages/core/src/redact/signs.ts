import { beginningsOf, charRun } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

/*
 * Few places of a text begin like a secret. At each character the next three are looked up in a table; a place that
 * passes is compared with the classes of the characters around it. Only then does a regular expression run, and only
 * that of the patterns that may begin there: several times as fast as one expression for all patterns.
 */

/** Number of characters that are looked up: the sign. */
export const SIGN_CHARS = 3;
/** Characters beyond these count by their last bits in a sign, and are not compared: they may stand everywhere. */
const CODES = 128;
const CODE_BITS = 7;
const LAST_SIGN = CODES ** SIGN_CHARS - 1;
/** Signs behind a character of a word are apart from the others: most patterns begin where a word does. */
const IN_WORD = LAST_SIGN + 1;
const WORD_CODES = Uint8Array.from({ length: CODES }, (_, code) =>
  /[A-Za-z0-9_]/.test(String.fromCharCode(code)) ? 1 : 0,
);
/** In a number with a bit for each of the last characters, that of the one before the sign; and how far it is from `IN_WORD`. */
const BEFORE_SIGN = 1 << SIGN_CHARS;
const TO_IN_WORD = CODE_BITS * SIGN_CHARS - SIGN_CHARS;
/** How many characters are compared: the one before, and the first ones, those of the sign among them. */
const COMPARED_CHARS = 9;

/** A pattern, and the class of what may stand right before it. */
export interface Signed {
  readonly pattern: Pattern;
  readonly previous: string;
}

/** Where patterns may begin in a text. */
export interface Signs {
  /**
   * The first place at or after `from` where one of the patterns may begin and `isIt` agrees; the length when there is
   * none. `isIt` is told the place and which patterns may begin there: an index of `groups`.
   */
  find(text: string, from: number, isIt: (at: number, group: number) => boolean): number;
  /** The patterns of each group, as indexes of what was given, in that order; the first group has none. */
  readonly groups: readonly (readonly number[])[];
}

/** The signs of patterns, each of which is at least as long as a sign. */
export function signsOf(patterns: readonly Signed[]): Signs {
  const { groupOf, isSign, groups } = grouped(patterns);
  const codesOfGroups = codesByGroup(patterns, groups);

  function mayBegin(group: number, text: string, index: number): boolean {
    const allowed = codesOfGroups(group);
    const end = Math.min(COMPARED_CHARS, text.length - index + 1);
    for (let at = index === 0 ? 1 : 0; at < end; at++) {
      const code = text.charCodeAt(index + at - 1);
      if (code < CODES && allowed[at * CODES + code] === 0) return false;
    }
    return true;
  }

  return {
    groups,
    find(text, from, isIt) {
      const first = from + SIGN_CHARS - 1;
      let codes = 0;
      let words = from === 0 ? 0 : wordBit(text.charCodeAt(from - 1));
      for (let at = from; at < text.length; at++) {
        const code = text.charCodeAt(at);
        codes = ((codes << CODE_BITS) | (code & (CODES - 1))) & LAST_SIGN;
        words = (words << 1) | wordBit(code);
        const sign = codes | ((words & BEFORE_SIGN) << TO_IN_WORD);
        if (((isSign[sign >> 3]! >> (sign & 7)) & 1) === 0 || at < first) continue;
        const index = at - SIGN_CHARS + 1;
        const group = groupOf[sign]!;
        if (mayBegin(group, text, index) && isIt(index, group)) return index;
      }
      return text.length;
    },
  };
}

/** What `signsOf` looks up. */
interface Grouping {
  /** The group of each sign: which patterns may begin with it. */
  readonly groupOf: Uint16Array;
  /** A bit for each sign that has a group: far smaller, so that it stays close to the processor. */
  readonly isSign: Uint8Array;
  readonly groups: readonly (readonly number[])[];
}

function grouped(patterns: readonly Signed[]): Grouping {
  const groupOf = new Uint16Array(IN_WORD * 2);
  const isSign = new Uint8Array((IN_WORD * 2) >> 3);
  const groups: (readonly number[])[] = [[]];
  /** The group that a group became with a pattern, and the pattern that it was: arrays, since most signs come here. */
  const larger: number[] = [];
  const largerBy: number[] = [];
  const madeBy: number[] = [];
  for (const [index, { pattern, previous }] of patterns.entries()) {
    eachSign(pattern, previous, (sign) => {
      const group = groupOf[sign]!;
      // A sign that comes twice has the pattern already.
      if (madeBy[group] === index) return;
      if (largerBy[group] !== index) {
        largerBy[group] = index;
        larger[group] = groups.push([...groups[group]!, index]) - 1;
        madeBy[larger[group]] = index;
      }
      groupOf[sign] = larger[group]!;
      isSign[sign >> 3]! |= 1 << (sign & 7);
    });
  }
  return { groupOf, isSign, groups };
}

/** Visits every sign that the pattern may begin with, behind what may stand before it; some come more than once. */
function eachSign(pattern: Pattern, previous: string, visit: (sign: number) => void): void {
  const places = new Set(codesIn(previous).map((code) => wordBit(code) * IN_WORD));
  for (const [one, two, three] of beginningsOf(pattern, SIGN_CHARS)) {
    if (one === undefined || two === undefined || three === undefined)
      throw new Error("A shape is shorter than its sign.");
    for (const first of codesIn(one))
      for (const second of codesIn(two))
        for (const third of codesIn(three)) {
          const sign = (((first << CODE_BITS) | (second & (CODES - 1))) << CODE_BITS) | (third & (CODES - 1));
          for (const place of places) visit((sign & LAST_SIGN) | place);
        }
  }
}

/** Which codes may stand before a group and at each of its first characters; made for the groups that a text needs. */
function codesByGroup(
  patterns: readonly Signed[],
  groups: readonly (readonly number[])[],
): (group: number) => Uint8Array {
  const ofPatterns: Uint8Array[] = [];
  const ofGroups: Uint8Array[] = [];
  return (group) => {
    const known = ofGroups[group];
    if (known !== undefined) return known;
    const allowed = new Uint8Array(COMPARED_CHARS * CODES);
    for (const member of groups[group]!) {
      const { pattern, previous } = patterns[member]!;
      const codes = (ofPatterns[member] ??= allowedBy([charRun(previous, 1), ...pattern]));
      for (let at = 0; at < allowed.length; at++) allowed[at]! |= codes[at]!;
    }
    ofGroups[group] = allowed;
    return allowed;
  };
}

/** For each of the first characters of a pattern, which codes it may have there, whatever the others are. */
function allowedBy(pattern: Pattern): Uint8Array {
  const allowed = new Uint8Array(COMPARED_CHARS * CODES);
  function walk(steps: Pattern, at: number): void {
    if (at === COMPARED_CHARS) return;
    const [step, ...rest] = steps;
    if (step === undefined) allowed.fill(1, at * CODES);
    else if ("either" in step) for (const way of step.either) walk([...way, ...rest], at);
    else {
      if (step.min === 0) walk(rest, at);
      for (const code of codesIn(step.set)) if (code < CODES) allowed[at * CODES + code] = 1;
      walk(step.max > 1 ? [charRun(step.set, Math.max(0, step.min - 1), step.max - 1), ...rest] : rest, at + 1);
    }
  }
  walk(pattern, 0);
  return allowed;
}

/** 1 for a character of a word, 0 for another. */
function wordBit(code: number): number {
  return code < CODES ? WORD_CODES[code]! : 0;
}

const codesOfSets = new Map<string, readonly number[]>();

/** The codes of a class: of one that has characters beyond these, every last seven bits are among these. */
function codesIn(set: string): readonly number[] {
  const known = codesOfSets.get(set);
  if (known !== undefined) return known;
  const member = new RegExp(set);
  const codes = Array.from({ length: 256 }, (_, code) => code).filter((code) => member.test(String.fromCharCode(code)));
  codesOfSets.set(set, codes);
  return codes;
}
