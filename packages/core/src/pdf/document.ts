import { PDF_LIMITS } from "../limits.ts";
import {
  asDictionary,
  asList,
  asName,
  asNumber,
  asReference,
  asWord,
  bytesOfHex,
  PdfMisfit,
  PdfReader,
} from "./syntax.ts";
import type { PdfDictionary, PdfValue } from "./syntax.ts";

/** Inflates bytes, as `inflateSync` of node:zlib does; throws ERR_BUFFER_TOO_LARGE beyond the bound. */
export type InflateBytes = (
  bytes: Uint8Array,
  options: { readonly maxOutputLength: number; readonly finishFlush: number },
) => Uint8Array;

/** Z_SYNC_FLUSH of zlib: data that ends early gives what it has. */
const GIVE_WHAT_THERE_IS = 2;
const OBJECT = /(\d{1,10})[\0\t\n\f\r ]{1,9}\d{1,5}[\0\t\n\f\r ]{1,9}obj|\btrailer\b/g;
const STREAM = /[\0\t\n\f\r ]*stream(?:\r\n|\n|\r)?/y;

/** Bytes of a PDF that stand behind a dictionary. */
interface PdfStream {
  readonly dictionary: PdfDictionary;
  readonly bytes: Uint8Array;
}

/**
 * The objects of a PDF. They are found by reading the file from its beginning, not by its table of places, so that a
 * file whose table is wrong or cut off is read, too; of two objects with one number the later counts.
 */
export class PdfDocument {
  readonly #bytes: Uint8Array;
  readonly #inflate: InflateBytes;
  readonly #objects = new Map<number, PdfValue>();
  readonly #streams = new Map<PdfDictionary, PdfStream>();
  /** What streams were decoded to, so that one which is drawn many times is decoded once. */
  readonly #decoded = new Map<PdfStream, string | undefined>();
  readonly #trailers: PdfDictionary[] = [];
  #inflated = 0;
  #steps = 0;

  /** Throws a PdfMisfit for an encrypted file and for one that goes beyond the bounds. */
  constructor(bytes: Uint8Array, inflate: InflateBytes) {
    this.#bytes = bytes;
    this.#inflate = inflate;
    const packed = this.#scan(textOfBytes(bytes));
    if (this.#trailers.some((trailer) => trailer.has("Encrypt")))
      throw new PdfMisfit("it is encrypted, and its text cannot be read without its password");
    for (const stream of packed) this.#unpack(stream);
  }

  /** The dictionary at the root of the document, if it has one. */
  root(): PdfDictionary | undefined {
    const roots = this.#trailers.map((trailer) => this.dictionary(trailer.get("Root")));
    return roots.findLast((root) => root?.has("Pages"));
  }

  /** Dictionaries of one type in the order of their numbers. */
  ofType(type: string): readonly PdfDictionary[] {
    const numbered = [...this.#objects].sort(([one], [other]) => one - other);
    return numbered.flatMap(([, value]) => {
      const found = asDictionary(value);
      return found !== undefined && asName(found.get("Type")) === type ? [found] : [];
    });
  }

  /** The value itself, where one refers to another object. */
  resolve(value: PdfValue | undefined): PdfValue | undefined {
    const ref = asReference(value);
    return ref === undefined ? value : this.#objects.get(ref);
  }

  /** The dictionary that a value is or refers to. */
  dictionary(value: PdfValue | undefined): PdfDictionary | undefined {
    return asDictionary(this.resolve(value));
  }

  /** The decoded bytes behind a dictionary, one character for each; undefined when there are none that can be decoded. */
  content(value: PdfValue | undefined): string | undefined {
    const stream = this.#streams.get(this.dictionary(value) ?? new Map<string, PdfValue>());
    if (stream === undefined) return undefined;
    const known = this.#decoded.get(stream);
    // Each use counts: a page joins its parts, and one part may be named a thousand times.
    if (known !== undefined) this.#count(known.length);
    if (!this.#decoded.has(stream)) this.#decoded.set(stream, this.#decode(stream));
    return this.#decoded.get(stream);
  }

  /** Counts work; throws a PdfMisfit when it becomes too much. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > PDF_LIMITS.steps) throw new PdfMisfit("reading its text takes too many steps");
  }

  /** Finds objects and trailers; gives the streams in which further objects are packed. */
  #scan(text: string): readonly PdfStream[] {
    const packed: PdfStream[] = [];
    const pattern = new RegExp(OBJECT);
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      this.spend(1);
      const reader = new PdfReader(text, pattern.lastIndex);
      const value = reader.read() ?? null;
      const dictionary = asDictionary(value);
      // A value that is missing is followed by the next object.
      pattern.lastIndex = Math.max(reader.at - (asWord(value)?.length ?? 0), pattern.lastIndex);
      if (found[1] === undefined) {
        if (dictionary !== undefined) this.#trailers.push(dictionary);
        continue;
      }
      this.#objects.set(Number(found[1]), value);
      if (dictionary === undefined || reader.match(STREAM) === undefined) continue;
      const end = endOfStream(text, reader.at, dictionary.get("Length"));
      const stream = { dictionary, bytes: this.#bytes.subarray(reader.at, end) };
      this.#streams.set(dictionary, stream);
      const type = asName(dictionary.get("Type"));
      if (type === "ObjStm") packed.push(stream);
      if (type === "XRef") this.#trailers.push(dictionary);
      pattern.lastIndex = end;
    }
    return packed;
  }

  /** Adds the objects of a stream of objects; those that the file itself has count before them. */
  #unpack(stream: PdfStream): void {
    const text = this.#decode(stream);
    if (text === undefined) return;
    const first = asNumber(this.resolve(stream.dictionary.get("First")));
    const count = asNumber(this.resolve(stream.dictionary.get("N")));
    const head = new PdfReader(text.slice(0, Math.max(first, 0)));
    let reached = 0;
    for (let index = 0; index < count; index += 1) {
      this.spend(1);
      const [number, offset] = [head.read(), head.read()];
      if (typeof number !== "number" || typeof offset !== "number") return;
      const start = Math.max(first + offset, 0);
      const reader = new PdfReader(text, start);
      this.#objects.set(number, reader.read() ?? null);
      // Objects stand one after the other; numbers that name one place make it be read again and again.
      if (start < reached) this.spend(reader.at - start);
      reached = Math.max(reached, reader.at);
    }
  }

  #decode({ dictionary, bytes }: PdfStream): string | undefined {
    const filter = this.resolve(dictionary.get("Filter"));
    const filters = filter === undefined || filter === null ? [] : (asList(filter) ?? [filter]);
    let decoded: Uint8Array | undefined = bytes;
    for (const one of filters) {
      decoded = this.#filtered(asName(this.resolve(one)), decoded);
      if (decoded === undefined) return undefined;
      this.#count(decoded.length);
    }
    if (filters.length === 0) this.#count(decoded.length);
    return textOfBytes(decoded);
  }

  #count(bytes: number): void {
    this.#inflated += bytes;
    if (this.#inflated > PDF_LIMITS.inflatedBytes) throw tooLarge();
  }

  #filtered(filter: string | undefined, bytes: Uint8Array): Uint8Array | undefined {
    if (filter === "FlateDecode" || filter === "Fl") return this.#inflateBounded(bytes);
    if (filter === "ASCII85Decode" || filter === "A85")
      return bytesOfBase85(textOfBytes(bytes), PDF_LIMITS.inflatedBytes - this.#inflated);
    if (filter === "ASCIIHexDecode" || filter === "AHx")
      return bytesOfText(bytesOfHex(textOfBytes(bytes).split(">")[0] ?? ""));
    return undefined;
  }

  #inflateBounded(bytes: Uint8Array): Uint8Array | undefined {
    const maxOutputLength = PDF_LIMITS.inflatedBytes - this.#inflated + 1;
    try {
      return this.#inflate(bytes, { maxOutputLength, finishFlush: GIVE_WHAT_THERE_IS });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
      // How much came out before the fault is not said.
      this.spend(bytes.length);
      return undefined;
    }
  }
}

function tooLarge(): PdfMisfit {
  return new PdfMisfit(`its compressed parts become larger than ${PDF_LIMITS.inflatedBytes} bytes`);
}

/** Where the bytes of a stream end: after the length that is said, if that is true, else at the word that ends them. */
function endOfStream(text: string, start: number, length: PdfValue | undefined): number {
  const said = start + asNumber(length);
  if (said > start && /^[\r\n ]{0,2}endstream/.test(text.slice(said, said + 11))) return said;
  const end = text.indexOf("endstream", start);
  return end === -1 ? text.length : end;
}

const CHUNK = 8192;

function textOfBytes(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  return parts.join("");
}

function bytesOfText(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

/** The bytes of text in base 85, as Adobe writes it: five characters for four bytes, z for four zeros, ~> at the end. */
function bytesOfBase85(text: string, maxBytes: number): Uint8Array {
  const digits = (text.split("~")[0] ?? "").replace(/[^!-uz]/g, "").replaceAll("z", "!!!!!");
  if ((digits.length * 4) / 5 > maxBytes + 1) throw tooLarge();
  const bytes = new Uint8Array(Math.floor((digits.length * 4) / 5));
  for (let at = 0; at < digits.length; at += 5) {
    const group = digits.slice(at, at + 5).padEnd(5, "u");
    let value = 0;
    for (let digit = 0; digit < 5; digit += 1) value = value * 85 + group.charCodeAt(digit) - 33;
    for (let byte = 0; byte < 4; byte += 1) {
      const place = (at / 5) * 4 + byte;
      if (place < bytes.length) bytes[place] = Math.floor(value / 256 ** (3 - byte)) & 0xff;
    }
  }
  return bytes;
}
