import { PDF_LIMITS } from "../limits.ts";
import type { PdfDocument } from "./document.ts";
import { asBytes, asList, asName, asNumber, asWord, PdfReader } from "./syntax.ts";
import type { PdfDictionary, PdfValue } from "./syntax.ts";

/** Which characters the codes of a font stand for; a code that is not in it stands for nothing known. */
export interface PdfFont {
  /** Bytes of one code. */
  readonly width: 1 | 2;
  readonly characters: ReadonlyMap<number, string>;
  /** How far a code moves the text on, in thousandths of its size; undefined where the document does not say it. */
  advance(code: number): number | undefined;
}

/** What a mapping or an encoding says of a font. */
type FontCodes = Omit<PdfFont, "advance">;

/** Codes 0x80 to 0x9f of Windows' Latin encoding; a dot where it has none. */
const WINDOWS = "€.‚ƒ„…†‡ˆ‰Š‹Œ.Ž..‘’“”•–—˜™š›œ.žŸ";
/** Codes from 0x80 on of the Macintosh's Latin encoding. */
const MACINTOSH =
  "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ";
/** Codes of Adobe's standard encoding that differ from ASCII. */
const STANDARD = {
  0x27: "’",
  0x60: "‘",
  0xaa: "“",
  0xae: "fi",
  0xaf: "fl",
  0xb1: "–",
  0xb7: "•",
  0xba: "”",
  0xd0: "—",
  0xfb: "ß",
};

/** Names of glyphs that are no letter of their own. */
const GLYPHS: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "space   exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) " +
    "asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 " +
    "nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \\ bracketright ] " +
    "asciicircum ^ underscore _ grave ` braceleft { bar | braceright } asciitilde ~ quoteleft ‘ quoteright ’ " +
    "quotedblleft “ quotedblright ” endash – emdash — bullet • ellipsis … fi fi fl fl ff ff ffi ffi ffl ffl germandbls ß " +
    "ae æ AE Æ oe œ OE Œ oslash ø Oslash Ø dotlessi ı exclamdown ¡ questiondown ¿ guillemotleft « guillemotright » " +
    "ordfeminine ª ordmasculine º degree ° section § copyright © registered ® trademark ™ Euro € sterling £ minus −"
  )
    .replace("space   ", "space \u00a0 ")
    .split(" ")
    .reduce<[string, string][]>((pairs, word, at) => {
      if (at % 2 === 0) pairs.push([word, ""]);
      else pairs.at(-1)![1] = word === "\u00a0" ? " " : word;
      return pairs;
    }, []),
);
const ACCENTS: Readonly<Record<string, string>> = {
  acute: "\u0301",
  caron: "\u030c",
  cedilla: "\u0327",
  circumflex: "\u0302",
  dieresis: "\u0308",
  grave: "\u0300",
  ring: "\u030a",
  tilde: "\u0303",
};

/** Reads what a font of a document says about its characters. */
export function readFont(font: PdfDictionary, document: PdfDocument): PdfFont {
  const isComposite = asName(document.resolve(font.get("Subtype"))) === "Type0";
  const mapping = document.content(font.get("ToUnicode"));
  const advance = isComposite ? compositeAdvance(font, document) : simpleAdvance(font, document);
  const simple = isComposite ? new Map<number, string>() : simpleCharacters(font, document);
  if (mapping === undefined) return { width: isComposite ? 2 : 1, characters: simple, advance };
  const read = readMapping(mapping, document);
  return { width: isComposite ? read.width : 1, characters: new Map([...simple, ...read.characters]), advance };
}

function simpleAdvance(font: PdfDictionary, document: PdfDocument): PdfFont["advance"] {
  const widths = asList(document.resolve(font.get("Widths"))) ?? [];
  const first = asNumber(document.resolve(font.get("FirstChar")));
  // The widths of a font that is drawn by operators have a unit of its own.
  const isDrawn = asName(document.resolve(font.get("Subtype"))) === "Type3";
  const unit = asNumber(asList(document.resolve(font.get("FontMatrix")))?.[0]) * 1000;
  return (code) => {
    const width = document.resolve(widths[code - first]);
    return typeof width === "number" ? width * (isDrawn ? unit : 1) : undefined;
  };
}

/** Widths of a composite font: `first [w w w]` and `first last w` in a list, and one for all others. */
function compositeAdvance(font: PdfDictionary, document: PdfDocument): PdfFont["advance"] {
  const described = document.dictionary(asList(document.resolve(font.get("DescendantFonts")))?.[0]);
  const usual = document.resolve(described?.get("DW"));
  const listed = asList(document.resolve(described?.get("W"))) ?? [];
  const widths = new Map<number, number>();
  for (let at = 0; at + 1 < listed.length;) {
    const [first, second] = [Math.max(asNumber(listed[at]), 0), document.resolve(listed[at + 1])];
    const each = asList(second);
    const last = each === undefined ? Math.min(asNumber(second), PDF_LIMITS.codes) : -1;
    document.spend((each?.length ?? Math.max(last - first, 0)) + 1);
    for (const [index, width] of (each ?? []).entries()) widths.set(first + index, asNumber(width));
    for (let code = first; code <= last; code += 1) widths.set(code, asNumber(listed[at + 2]));
    at += each === undefined ? 3 : 2;
  }
  return (code) => widths.get(code) ?? (usual === undefined ? 1000 : asNumber(usual));
}

function simpleCharacters(font: PdfDictionary, document: PdfDocument): ReadonlyMap<number, string> {
  const encoding = document.resolve(font.get("Encoding"));
  const described = document.dictionary(encoding);
  const base = asName(encoding) ?? asName(document.resolve(described?.get("BaseEncoding")));
  const flags = asNumber(document.resolve(document.dictionary(font.get("FontDescriptor"))?.get("Flags")));
  // The codes of a font of symbols mean what its own program says.
  const isOwn = base === undefined && ((flags & 4) !== 0 || asName(document.resolve(font.get("Subtype"))) === "Type3");
  const characters = new Map(isOwn ? [] : encodedCharacters(base));
  let code = 0;
  for (const one of asList(document.resolve(described?.get("Differences"))) ?? []) {
    document.spend(1);
    if (typeof one === "number") code = one;
    const name = asName(one);
    if (name === undefined) continue;
    const character = glyphCharacter(name);
    if (character === undefined) characters.delete(code);
    else characters.set(code, character);
    code += 1;
  }
  return characters;
}

function encodedCharacters(base: string | undefined): readonly (readonly [number, string])[] {
  const ascii = Array.from({ length: 95 }, (_, at) => [at + 32, String.fromCharCode(at + 32)] as const);
  const from = (start: number, text: string) => Array.from(text, (one, at) => [start + at, one] as const);
  if (base === "MacRomanEncoding") return [...ascii, ...from(0x80, MACINTOSH)];
  if (base !== "WinAnsiEncoding")
    return [...ascii, ...Object.entries(STANDARD).map(([code, text]) => [Number(code), text] as const)];
  const latin = Array.from({ length: 96 }, (_, at) => [at + 0xa0, String.fromCharCode(at + 0xa0)] as const);
  return [...ascii, ...from(0x80, WINDOWS).filter(([, one]) => one !== "."), ...latin];
}

function glyphCharacter(name: string): string | undefined {
  if (/^[A-Za-z]$/.test(name)) return name;
  const [, hex] = /^uni([0-9A-F]{4})$/.exec(name) ?? [];
  if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
  const [, letter, accent = ""] = /^([A-Za-z])([a-z]{4,10})$/.exec(name) ?? [];
  const mark = Object.hasOwn(ACCENTS, accent) ? ACCENTS[accent] : undefined;
  if (letter !== undefined && mark !== undefined) return `${letter}${mark}`.normalize("NFC");
  return Object.hasOwn(GLYPHS, name) ? GLYPHS[name] : undefined;
}

/** Reads a ToUnicode mapping: single codes, and ranges with a first text or a list of texts. */
function readMapping(text: string, document: PdfDocument): FontCodes {
  const characters = new Map<number, string>();
  const reader = new PdfReader(text);
  let width: 1 | 2 = 2;
  let operands: PdfValue[] = [];
  for (let value = reader.read(); value !== undefined; value = reader.read()) {
    document.spend(1);
    const word = asWord(value);
    if (word === undefined) operands.push(value);
    else {
      if (word === "endcodespacerange") width = operands.every((one) => asBytes(one)?.length === 1) ? 1 : 2;
      if (word === "endbfchar") inGroups(operands, 2, ([code, to]) => characters.set(codeOf(code), utf16Of(to)));
      if (word === "endbfrange") inGroups(operands, 3, (range) => addRange(range, characters, document));
      operands = [];
    }
  }
  return { width, characters };
}

function inGroups(values: readonly PdfValue[], size: number, use: (group: readonly PdfValue[]) => void): void {
  for (let at = 0; at + size <= values.length; at += size) use(values.slice(at, at + size));
}

function addRange(
  [first, last, to]: readonly PdfValue[],
  characters: Map<number, string>,
  document: PdfDocument,
): void {
  const [from, until] = [codeOf(first), Math.min(codeOf(last), PDF_LIMITS.codes)];
  const texts = asList(to);
  const start = utf16Of(to);
  for (let code = from; code <= until; code += 1) {
    document.spend(1);
    const next = start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + code - from);
    const text = texts === undefined ? next : utf16Of(texts[code - from]);
    if (text !== "" && start.length + (texts?.length ?? 0) > 0) characters.set(code, text);
  }
}

function codeOf(value: PdfValue | undefined): number {
  return Array.from(asBytes(value) ?? "").reduce((code, byte) => code * 256 + byte.charCodeAt(0), 0);
}

function utf16Of(value: PdfValue | undefined): string {
  return (asBytes(value) ?? "").replace(/([^])([^])/g, (_, high: string, low: string) =>
    String.fromCharCode(high.charCodeAt(0) * 256 + low.charCodeAt(0)),
  );
}
