import { PDF_LIMITS } from "../limits.ts";
import type { PdfDocument } from "./document.ts";
import { readFont } from "./font.ts";
import type { PdfFont } from "./font.ts";
import { asBytes, asList, asName, asNumber, asWord, PdfReader } from "./syntax.ts";
import type { PdfDictionary, PdfValue } from "./syntax.ts";

/** How far up or down text moves before it is on another line, in points. */
const SAME_LINE = 2;
/** How far text moves back within a word at most, in thousandths of its size; beyond it stands a blank. */
const WITHIN_WORD = -200;
const END_OF_IMAGE = /[^]*?[\0\t\n\f\r ]EI(?=[\0\t\n\f\r ])/y;

/** Collects the text that the operators of a page show, in their order. */
export class PdfPageText {
  readonly #document: PdfDocument;
  readonly #fonts: Map<PdfDictionary, PdfFont>;
  #parts: string[] = [];
  #font: PdfFont | undefined;
  #leading = 0;
  #scale = 1;
  #line = 0;
  #shownLine = 0;
  #isMoved = false;
  #isElsewhere = false;
  /** Characters whose letters are not known. */
  lost = 0;
  /** Whether a part of the page could not be decoded. */
  isBroken = false;
  /** Whether the page shows an image. */
  hasImage = false;

  /** With the fonts that earlier pages have read. */
  constructor(document: PdfDocument, fonts: Map<PdfDictionary, PdfFont>) {
    this.#document = document;
    this.#fonts = fonts;
  }

  /** What was shown so far, without characters that control. */
  text(): string {
    return this.#parts
      .join("")
      .replace(/[^\P{Cc}\n\t]/gu, "")
      .replace(/[ \t]+$/gm, "")
      .trim();
  }

  /** Follows the operators of a page, or of a form in it. */
  follow(content: string, resources: PdfDictionary | undefined, depth = 0): void {
    const reader = new PdfReader(content);
    let operands: PdfValue[] = [];
    for (let value = reader.read(); value !== undefined; value = reader.read()) {
      this.#document.spend(1);
      const word = asWord(value);
      if (word === undefined) {
        operands.push(value);
        continue;
      }
      if (word === "BI" && reader.match(END_OF_IMAGE) === undefined) return;
      if (word === "BI") this.hasImage = true;
      if (word === "Tf") this.#choose(asName(operands[0]), resources);
      if (word === "Do") this.#draw(asName(operands[0]), resources, depth);
      this.#place(word, operands);
      this.#show(word, operands);
      operands = [];
    }
  }

  #place(word: string, operands: readonly PdfValue[]): void {
    const [first, second, , fourth, , sixth] = operands.map(asNumber);
    if (word === "TL") this.#leading = first ?? 0;
    if (word === "TD") this.#leading = -(second ?? 0);
    if (word === "cm") this.#isElsewhere = true;
    if (word === "BT") [this.#line, this.#scale] = [0, 1];
    if (word === "Td" || word === "TD") this.#line += (second ?? 0) * this.#scale;
    if (word === "Tm") [this.#scale, this.#line] = [fourth || 1, sixth ?? 0];
    if (word === "T*" || word === "'" || word === '"') {
      this.#line -= this.#leading * this.#scale;
      this.#isElsewhere = true;
    }
    if (["BT", "Td", "TD", "Tm"].includes(word)) this.#isMoved = true;
  }

  #show(word: string, operands: readonly PdfValue[]): void {
    if (word === "Tj" || word === "'" || word === '"') this.#put(asBytes(operands.at(-1)) ?? "");
    if (word !== "TJ") return;
    for (const one of asList(operands[0]) ?? []) {
      const bytes = asBytes(one);
      if (bytes !== undefined) this.#put(bytes);
      else if (asNumber(one) < WITHIN_WORD) this.#separate(" ");
    }
  }

  #put(bytes: string): void {
    if (bytes === "") return;
    this.#document.spend(bytes.length / 8);
    const isOtherLine = this.#isElsewhere || Math.abs(this.#line - this.#shownLine) > SAME_LINE;
    if (isOtherLine) this.#separate("\n");
    else if (this.#isMoved) this.#separate(" ");
    [this.#isMoved, this.#isElsewhere, this.#shownLine] = [false, false, this.#line];
    const width = this.#font?.width ?? 1;
    for (let at = 0; at + width <= bytes.length; at += width) {
      const code = width === 1 ? bytes.charCodeAt(at) : bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1);
      const character = this.#font?.characters.get(code);
      if (character === undefined) this.lost += 1;
      else this.#parts.push(character);
    }
  }

  #separate(blank: string): void {
    if (this.#parts.length > 0 && !/\s$/.test(this.#parts.at(-1) ?? "")) this.#parts.push(blank);
  }

  #choose(name: string | undefined, resources: PdfDictionary | undefined): void {
    const fonts = this.#document.dictionary(resources?.get("Font"));
    const found = this.#document.dictionary(fonts?.get(name ?? ""));
    this.#font = undefined;
    if (found === undefined) return;
    this.#font = this.#fonts.get(found) ?? readFont(found, this.#document);
    this.#fonts.set(found, this.#font);
  }

  #draw(name: string | undefined, resources: PdfDictionary | undefined, depth: number): void {
    const drawn = this.#document.dictionary(resources?.get("XObject"));
    const form = this.#document.dictionary(drawn?.get(name ?? ""));
    const kind = asName(this.#document.resolve(form?.get("Subtype")));
    if (kind === "Image") this.hasImage = true;
    if (form === undefined || kind !== "Form" || depth >= PDF_LIMITS.depth) return;
    const content = this.#document.content(form);
    if (content === undefined) this.isBroken = true;
    this.#isElsewhere = true;
    this.follow(content ?? "", this.#document.dictionary(form.get("Resources")) ?? resources, depth + 1);
    this.#isElsewhere = true;
  }
}
