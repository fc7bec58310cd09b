import { PDF_LIMITS } from "../limits.ts";

/** A name in a PDF, as /Type. */
export interface PdfName {
  readonly name: string;
}

/** A text in a PDF: one character for each byte. */
export interface PdfString {
  readonly bytes: string;
}

/** The number of an object that stands elsewhere in a PDF. */
export interface PdfReference {
  readonly ref: number;
}

/** An operator or keyword of a PDF. */
export interface PdfWord {
  readonly word: string;
}

/** A dictionary of a PDF. */
export type PdfDictionary = ReadonlyMap<string, PdfValue>;

/** One value of a PDF's syntax. */
export type PdfValue =
  | boolean
  | null
  | number
  | PdfName
  | PdfString
  | PdfReference
  | PdfWord
  | readonly PdfValue[]
  | PdfDictionary;

/** Why a PDF has no text to give; the end of a sentence that begins with its name. */
export class PdfMisfit extends Error {}

/** The dictionary that a value is; undefined for every other. */
export function asDictionary(value: PdfValue | undefined): PdfDictionary | undefined {
  return value instanceof Map ? value : undefined;
}

/** The list that a value is; undefined for every other. */
export function asList(value: PdfValue | undefined): readonly PdfValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** The name that a value is; undefined for every other. */
export function asName(value: PdfValue | undefined): string | undefined {
  return isRecord(value) && "name" in value ? value.name : undefined;
}

/** The operator or keyword that a value is; undefined for every other. */
export function asWord(value: PdfValue | undefined): string | undefined {
  return isRecord(value) && "word" in value ? value.word : undefined;
}

/** The bytes of the text that a value is; undefined for every other. */
export function asBytes(value: PdfValue | undefined): string | undefined {
  return isRecord(value) && "bytes" in value ? value.bytes : undefined;
}

/** The number of the object that a value refers to; undefined for every other. */
export function asReference(value: PdfValue | undefined): number | undefined {
  return isRecord(value) && "ref" in value ? value.ref : undefined;
}

/** The number that a value is; 0 for every other. */
export function asNumber(value: PdfValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function isRecord(value: PdfValue | undefined): value is PdfName | PdfString | PdfReference | PdfWord {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map);
}

const BLANKS = "\0\t\n\f\r ";
const NUMBER = /[+-]?(?:\d{1,20}(?:\.\d*)?|\.\d+)(?![^\0\t\n\f\r ()<>[\]{}/%])/y;
const REST_OF_REFERENCE = /[\0\t\n\f\r ]{1,9}\d{1,5}[\0\t\n\f\r ]{1,9}R(?![A-Za-z])/y;
const REGULAR = /[^\0\t\n\f\r ()<>[\]{}/%]+/y;
const HEX = /<([^>]*)>?/y;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const KEYWORDS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Reads one value of a PDF after the other; each step moves on, so that rubbish ends, too. */
export class PdfReader {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** The next value; undefined at the end. A bracket that closes nothing is a word. */
  read(depth = 0): PdfValue | undefined {
    if (depth > PDF_LIMITS.depth) throw new PdfMisfit("its values are nested too deeply");
    this.#skipBlanks();
    const sign = this.text[this.at];
    if (sign === undefined) return undefined;
    if (sign === "/") return this.#name();
    if (sign === "(") return this.#literal();
    if (sign === "[") return this.#list("]", depth);
    if (this.text.startsWith("<<", this.at)) return dictionaryOf(this.#list(">>", depth));
    if (sign === "<") return { bytes: bytesOfHex(this.match(HEX)?.[1] ?? "") };
    const number = this.match(NUMBER)?.[0];
    if (number !== undefined) return this.match(REST_OF_REFERENCE) ? { ref: Number(number) } : Number(number);
    const word = this.match(REGULAR)?.[0];
    if (word === undefined) {
      const bracket = this.text.startsWith(">>", this.at) ? ">>" : sign;
      this.at += bracket.length;
      return { word: bracket };
    }
    return KEYWORDS.has(word) ? (KEYWORDS.get(word) ?? null) : { word };
  }

  /** What a sticky pattern finds here; moves behind it. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found !== undefined) this.at = pattern.lastIndex;
    return found;
  }

  /** Moves behind blanks and comments. One pattern for both would keep a place for each blank and run out of room. */
  #skipBlanks(): void {
    let isComment = false;
    for (; this.at < this.text.length; this.at += 1) {
      const sign = this.text.charAt(this.at);
      if (sign === "%") isComment = true;
      else if (sign === "\r" || sign === "\n") isComment = false;
      else if (!isComment && !BLANKS.includes(sign)) return;
    }
  }

  #name(): PdfName {
    this.at += 1;
    const written = this.match(REGULAR)?.[0] ?? "";
    return { name: written.replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))) };
  }

  #list(end: "]" | ">>", depth: number): readonly PdfValue[] {
    this.at += end.length;
    const values: PdfValue[] = [];
    for (;;) {
      const value = this.read(depth + 1);
      const word = asWord(value);
      // A list that is not closed ends where its object does.
      if (value === undefined || word === end || word === "endobj" || word === "stream") return values;
      values.push(value);
    }
  }

  #literal(): PdfString {
    const parts: string[] = [];
    let open = 1;
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const sign = this.text.charAt(this.at);
      if (sign === "(") open += 1;
      if (sign === ")" && (open -= 1) === 0) break;
      parts.push(sign === "\\" ? this.#escape() : sign);
    }
    this.at += 1;
    return { bytes: parts.join("") };
  }

  /** What an escape stands for; stays on its last character. */
  #escape(): string {
    this.at += 1;
    const sign = this.text.charAt(this.at);
    const octal = /^[0-7]{1,3}/.exec(this.text.slice(this.at, this.at + 3))?.[0];
    if (octal !== undefined) {
      this.at += octal.length - 1;
      return String.fromCharCode(parseInt(octal, 8) & 0xff);
    }
    if (sign === "\r" && this.text[this.at + 1] === "\n") this.at += 1;
    return sign === "\r" || sign === "\n" ? "" : (ESCAPES[sign] ?? sign);
  }
}

function dictionaryOf(values: readonly PdfValue[]): PdfDictionary {
  const entries = new Map<string, PdfValue>();
  for (let at = 0; at + 1 < values.length; at += 2) {
    const [name, value] = [asName(values[at]), values[at + 1]];
    if (name !== undefined && value !== undefined) entries.set(name, value);
  }
  return entries;
}

/** The bytes that hexadecimal digits stand for; a last single digit is followed by 0, and other characters are left out. */
export function bytesOfHex(hex: string): string {
  const digits = hex.replace(/[^0-9a-f]/gi, "");
  return digits.replace(/..?/g, (pair) => String.fromCharCode(parseInt(pair.padEnd(2, "0"), 16)));
}
