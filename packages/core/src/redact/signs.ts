import { beginningsOf, charRun } from "./pattern.ts";
import type { Pattern, Step } from "./pattern.ts";

/*
 * Few places of a text begin like a secret. At each character the next three are looked up in a table; a place that
 * passes is compared with the classes of the characters around it. Only then does a regular expression run, and only
 * that of the patterns that may begin there: several times as fast as one expression for all patterns. The table is
 * filled as texts come: a process starts without it, and most signs never occur.
 */

/** Number of characters that are looked up: the sign. Whether a word goes on with it belongs to it: most patterns begin where a word does. */
export const SIGN_CHARS = 3;
/** Characters beyond these count by their last bits in a sign, and are not compared: they may stand everywhere. */
const CODES = 128;
const CODE_BITS = 7;
const LAST_CODE = CODES - 1;
const WORD_CODES = Uint8Array.from({ length: CODES }, (_, code) =>
  /[A-Za-z0-9_]/.test(String.fromCharCode(code)) ? 1 : 0,
);
/** Of a pair or a sign: it did not come up yet; no pattern begins with it; some do. */
const UNKNOWN = 0;
const NONE = 1;
const SOME = 2;
/** How many characters are compared: the one before, and the first ones; a name of a secret and what gives it its value are among them. */
const COMPARED_CHARS = 16;

/** A pattern, and the class of what may stand right before it. */
export interface ShapeStart {
  readonly pattern: Pattern;
  readonly previous: string;
}

type IsIt = (at: number, pattern: number) => boolean;

/** Patterns that begin with the same sign. */
interface Group {
  readonly patterns: readonly number[];
  /** Which codes may stand before and at each of the first characters of any of them. */
  readonly codes: CodeBits;
}

/** For each of the compared characters a bit for each code. */
type CodeBits = Int32Array;

const BITS_WORDS = CODES / 32;
const NO_GROUP: Group = { patterns: [], codes: new Int32Array(COMPARED_CHARS * BITS_WORDS) };

/** Where patterns may begin in a text, each of them at least as long as a sign. They are named by their index. */
export class Signs {
  readonly #patterns: readonly ShapeStart[];
  /** Made for the first text: not every process has one. */
  #table: ReturnType<typeof beginningTable> | undefined;
  readonly #codesOf: (pattern: number) => CodeBits;
  /** Whether a pattern may begin with the first two characters of a sign: so few bytes that they stay close to the processor. */
  readonly #pairs = new Uint8Array(CODES ** 2 * 2);
  /** The group of each sign. */
  readonly #groupOf = new Uint16Array(CODES ** 3 * 2);
  readonly #groups: Group[] = [NO_GROUP, NO_GROUP];
  readonly #groupsByPatterns = new Map<string, number>();
  readonly #endings = new Map<number, readonly number[]>();

  constructor(patterns: readonly ShapeStart[]) {
    this.#patterns = patterns;
    this.#codesOf = codesByPattern(patterns);
  }

  /**
   * The first place at or after `from` where a pattern may begin and `isIt` agrees; the length when there is none. The
   * last characters, which are too few for a sign, are not looked at.
   */
  find(text: string, from: number, isIt: IsIt): number {
    const pairs = this.#pairs;
    const groupOf = this.#groupOf;
    const end = text.length - SIGN_CHARS + 1;
    let isInWord = from === 0 ? 0 : wordBit(text.charCodeAt(from - 1));
    let code = from < end ? text.charCodeAt(from) : 0;
    for (let at = from; at < end; at++) {
      const next = text.charCodeAt(at + 1);
      const pair = (isInWord << (2 * CODE_BITS)) | ((code & LAST_CODE) << CODE_BITS) | (next & LAST_CODE);
      isInWord = wordBit(code);
      code = next;
      const known = pairs[pair]!;
      if (known === NONE || (known === UNKNOWN && !this.#learnPair(pair))) continue;
      const sign = (pair << CODE_BITS) | (text.charCodeAt(at + 2) & LAST_CODE);
      const id = groupOf[sign]!;
      if (id === NONE) continue;
      const group = id === UNKNOWN ? this.#learnSign(sign) : this.#groups[id]!;
      if (!areAllowed(group.codes, text, at)) continue;
      for (const pattern of group.patterns) {
        // The codes of a group are those of its only pattern.
        const isAllowed = group.patterns.length === 1 || areAllowed(this.#codesOf(pattern), text, at);
        if (isAllowed && isIt(at, pattern)) return at;
      }
    }
    return text.length;
  }

  /**
   * The patterns that may begin with the last characters of a text, from a place on where they are too few for a sign;
   * the very same list each time.
   */
  beginningAtEnd(text: string, at: number): readonly number[] {
    const isInWord = at === 0 ? 0 : wordBit(text.charCodeAt(at - 1));
    const codes: number[] = [];
    let key = 2 + isInWord;
    for (let index = at; index < text.length; index++) {
      const code = Math.min(text.charCodeAt(index), CODES);
      codes.push(code);
      key = key * CODE_ROWS + code;
    }
    let known = this.#endings.get(key);
    if (known === undefined) this.#endings.set(key, (known = this.#beginnings(isInWord, codes)));
    return known;
  }

  #beginnings(isInWord: number, codes: readonly number[]): readonly number[] {
    return (this.#table ??= beginningTable(this.#patterns))(isInWord, codes);
  }

  #learnPair(pair: number): boolean {
    const members = this.#beginnings(pair >> (2 * CODE_BITS), [(pair >> CODE_BITS) & LAST_CODE, pair & LAST_CODE]);
    this.#pairs[pair] = members.length === 0 ? NONE : SOME;
    return members.length > 0;
  }

  #learnSign(sign: number): Group {
    const codes = [sign >> (2 * CODE_BITS), sign >> CODE_BITS, sign].map((code) => code & LAST_CODE);
    const patterns = this.#beginnings(sign >> (3 * CODE_BITS), codes);
    if (patterns.length === 0) {
      this.#groupOf[sign] = NONE;
      return NO_GROUP;
    }
    const key = patterns.join();
    const known = this.#groupsByPatterns.get(key);
    const id = known ?? this.#groups.push({ patterns, codes: unionOf(patterns.map(this.#codesOf)) }) - 1;
    this.#groupsByPatterns.set(key, id);
    this.#groupOf[sign] = id;
    return this.#groups[id]!;
  }
}

/** Whether each character around a place is one that may stand there. */
function areAllowed(allowed: CodeBits, text: string, index: number): boolean {
  const end = Math.min(COMPARED_CHARS, text.length - index + 1);
  for (let at = index === 0 ? 1 : 0; at < end; at++) {
    const code = text.charCodeAt(index + at - 1);
    if (code < CODES && ((allowed[at * BITS_WORDS + (code >> 5)]! >> (code & 31)) & 1) === 0) return false;
  }
  return true;
}

/** Rows of `beginningTable`: two for what is before, then for each character one for each code, and one for all beyond. */
const CODE_ROWS = CODES + 1;
const ROWS = 2 + SIGN_CHARS * CODE_ROWS;

/**
 * Gives the patterns that may begin, behind a character of a word or not, with characters of these codes; `CODES` stands
 * for a character beyond them. A row of the table has a bit for each way in which a pattern may begin.
 */
function beginningTable(
  patterns: readonly ShapeStart[],
): (isInWord: number, codes: readonly number[]) => readonly number[] {
  const ways = patterns.flatMap(({ pattern }, index) =>
    beginningsOf(pattern, SIGN_CHARS).map((sets) => ({ index, sets })),
  );
  const words = Math.ceil(ways.length / 32);
  const table = new Int32Array(ROWS * words);
  for (const [way, { index, sets }] of ways.entries()) {
    if (sets.length < SIGN_CHARS) throw new Error("A shape is shorter than its sign.");
    const [word, bit] = [way >> 5, 1 << (way & 31)];
    for (const row of classOf(patterns[index]!.previous).wordBits) table[row * words + word]! |= bit;
    for (const [at, set] of sets.entries()) {
      for (const code of classOf(set).signCodes) table[(2 + at * CODE_ROWS + code) * words + word]! |= bit;
    }
  }
  return (isInWord, codes) => {
    const members: number[] = [];
    for (let word = 0; word < words; word++) {
      let bits = table[isInWord * words + word]!;
      for (let at = 0; at < codes.length && bits !== 0; at++) {
        bits &= table[(2 + at * CODE_ROWS + codes[at]!) * words + word]!;
      }
      for (; bits !== 0; bits &= bits - 1) {
        const { index } = ways[word * 32 + 31 - Math.clz32(bits & -bits)]!;
        if (members.at(-1) !== index) members.push(index);
      }
    }
    return members;
  };
}

/** Which codes may stand before a pattern and at each of its first characters; made for those that a text needs. */
function codesByPattern(patterns: readonly ShapeStart[]): (pattern: number) => CodeBits {
  const known: CodeBits[] = [];
  return (index) => {
    const { pattern, previous } = patterns[index]!;
    return (known[index] ??= allowedBy([charRun(previous, 1), ...pattern]));
  };
}

function unionOf(sets: readonly CodeBits[]): CodeBits {
  const union = new Int32Array(COMPARED_CHARS * BITS_WORDS);
  for (const set of sets) for (let at = 0; at < union.length; at++) union[at]! |= set[at]!;
  return union;
}

/**
 * For each of the first characters of a pattern, which codes it may have there, whatever the others are. The places
 * where a step may begin and end are bits of a number.
 */
function allowedBy(pattern: Pattern): CodeBits {
  const allowed = new Int32Array(COMPARED_CHARS * BITS_WORDS);
  function allow(set: string, places: number): void {
    const { bits } = classOf(set);
    for (let left = places; left !== 0; left &= left - 1) {
      const at = (31 - Math.clz32(left & -left)) * BITS_WORDS;
      for (let word = 0; word < BITS_WORDS; word++) allowed[at + word]! |= bits[word]!;
    }
  }
  /** Where the steps may end that may begin at some places. */
  function walk(steps: Pattern, begins: number): number {
    let places = begins;
    for (let index = 0; index < steps.length && places !== 0; index++) places = take(steps[index]!, places);
    return places;
  }
  function take(step: Step, begins: number): number {
    let ends = 0;
    if ("either" in step) {
      for (const way of step.either) ends |= walk(way, begins);
      return ends;
    }
    let places = begins;
    for (let taken = 0; places !== 0; taken++) {
      if (taken >= step.min) ends |= places;
      if (taken === step.max) break;
      allow(step.set, places);
      places = (places << 1) & ALL_PLACES;
    }
    return ends;
  }
  const ends = walk(pattern, 1);
  // Behind the pattern every character may stand.
  if (ends !== 0) allowed.fill(-1, (31 - Math.clz32(ends & -ends)) * BITS_WORDS);
  return allowed;
}

/** A bit for each of the compared characters. */
const ALL_PLACES = (1 << COMPARED_CHARS) - 1;

/** 1 for a character of a word, 0 for another. */
function wordBit(code: number): number {
  return code < CODES ? WORD_CODES[code]! : 0;
}

/** A class of characters. */
interface CharClass {
  /** Its codes in a sign: where characters beyond `CODES` are in it, their last bits may be any. */
  readonly signCodes: readonly number[];
  readonly bits: Int32Array;
  /** 0, 1 or both: whether characters of words, or others, are in it. */
  readonly wordBits: readonly number[];
}

const ALL_CODES = Array.from({ length: CODES + 1 }, (_, code) => code);
const LATIN = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code));
const classes = new Map<string, CharClass>();

function classOf(set: string): CharClass {
  let known = classes.get(set);
  if (known === undefined) classes.set(set, (known = readClass(set)));
  return known;
}

function readClass(set: string): CharClass {
  const latin = Array.from(LATIN.matchAll(new RegExp(set, "g")), ({ index }) => index);
  const codes = latin.filter((code) => code < CODES);
  const bits = new Int32Array(BITS_WORDS);
  for (const code of codes) bits[code >> 5]! |= 1 << (code & 31);
  const isBeyond = latin.length === 0 || codes.length < latin.length;
  if (isBeyond) codes.push(CODES);
  return { signCodes: isBeyond ? ALL_CODES : codes, bits, wordBits: [...new Set(codes.map(wordBit))] };
}
