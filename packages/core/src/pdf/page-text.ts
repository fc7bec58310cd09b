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
/** How far apart two pieces of a line are at least when a blank is between them, as a part of the text's size. */
const BLANK_PART = 0.12;
const END_OF_IMAGE = /[^]*?[\0\t\n\f\r ]EI(?=[\0\t\n\f\r ])/y;

/** Where and how large on the page the operators draw; turned text counts as if it were not. */
interface PageFrame {
  readonly stretch: number;
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

function frameIn(outer: PageFrame, { stretch, scale, x, y }: PageFrame): PageFrame {
  return {
    stretch: outer.stretch * (stretch || 1),
    scale: outer.scale * (scale || 1),
    x: outer.x + x * outer.stretch,
    y: outer.y + y * outer.scale,
  };
}

/** Collects the text that the operators of a page show, in their order. */
export class PdfPageText {
  readonly #document: PdfDocument;
  readonly #fonts: Map<PdfDictionary, PdfFont>;
  #parts: string[] = [];
  #font: PdfFont | undefined;
  #size = 1;
  #charSpace = 0;
  #wordSpace = 0;
  #leading = 0;
  #stretch = 1;
  /** Where the line begins, and where the next character stands; not known after one without a width. */
  #start = 0;
  #pen: number | undefined = 0;
  #scale = 1;
  #line = 0;
  #shownLine = 0;
  #frame: PageFrame = { stretch: 1, scale: 1, x: 0, y: 0 };
  readonly #frames: PageFrame[] = [];
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

  /** What was shown so far, without characters that control and without halves of characters. */
  text(): string {
    const shown = this.#parts
      .join("")
      .toWellFormed()
      .replace(/[^\P{Cc}\n\t]/gu, "");
    // Line by line: a pattern for blanks before the end of a line looks at long blanks within it again and again.
    return shown
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
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
      if (word === "Tf") this.#choose(operands, resources);
      if (word === "Do") this.#draw(asName(operands[0]), resources, depth);
      this.#place(word, operands);
      this.#show(word, operands);
      operands = [];
    }
  }

  #place(word: string, operands: readonly PdfValue[]): void {
    const [first = 0, second = 0, , fourth = 0, fifth = 0, sixth = 0] = operands.map(asNumber);
    if (word === "Tc") this.#charSpace = first;
    if (word === "Tw") this.#wordSpace = first;
    if (word === "TL") this.#leading = first;
    if (word === "TD") this.#leading = -second;
    if (word === "cm") this.#frame = frameIn(this.#frame, { stretch: first, scale: fourth, x: fifth, y: sixth });
    if (word === "q") this.#frames.push(this.#frame);
    if (word === "Q") this.#frame = this.#frames.pop() ?? this.#frame;
    if (word === "BT") [this.#start, this.#line, this.#stretch, this.#scale] = [0, 0, 1, 1];
    if (word === "Td" || word === "TD") {
      this.#start += first * this.#stretch;
      this.#line += second * this.#scale;
    }
    if (word === "Tm") [this.#stretch, this.#scale, this.#start, this.#line] = [first || 1, fourth || 1, fifth, sixth];
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
      else {
        if (asNumber(one) < WITHIN_WORD) this.#separate(" ");
        this.#advance((-asNumber(one) / 1000) * this.#size);
      }
    }
  }

  #put(bytes: string): void {
    if (bytes === "") return;
    const line = this.#frame.y + this.#line * this.#frame.scale;
    const isOtherLine = this.#isElsewhere || Math.abs(line - this.#shownLine) > SAME_LINE;
    if (isOtherLine) this.#separate("\n");
    else if (this.#isMoved && this.#isApart()) this.#separate(" ");
    if (isOtherLine || this.#isMoved) this.#pen = this.#startOnPage();
    [this.#isMoved, this.#isElsewhere, this.#shownLine] = [false, false, line];
    const width = this.#font?.width ?? 1;
    let shown = bytes.length;
    for (let at = 0; at + width <= bytes.length; at += width) {
      const code = width === 1 ? bytes.charCodeAt(at) : bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1);
      const character = this.#font?.characters.get(code);
      if (character === undefined) this.lost += 1;
      else {
        this.#parts.push(character);
        shown += character.length;
      }
      const moved = this.#font?.advance(code);
      const space = this.#charSpace + (width === 1 && code === 32 ? this.#wordSpace : 0);
      this.#advance(moved === undefined ? undefined : (moved / 1000) * this.#size + space);
    }
    // One code may stand for a long text.
    this.#document.spend(shown / 8);
  }

  #advance(by: number | undefined): void {
    this.#pen =
      by === undefined || this.#pen === undefined ? undefined : this.#pen + by * this.#stretch * this.#frame.stretch;
  }

  #startOnPage(): number {
    return this.#frame.x + this.#start * this.#frame.stretch;
  }

  /** Whether the text goes on elsewhere than where it was left. */
  #isApart(): boolean {
    if (this.#pen === undefined) return true;
    const size = Math.abs(this.#size * this.#stretch * this.#frame.stretch);
    const gap = this.#startOnPage() - this.#pen;
    return gap > BLANK_PART * size || gap < -size;
  }

  /** A blank stands behind no other; a line ends behind a blank, too. */
  #separate(blank: " " | "\n"): void {
    const last = this.#parts.at(-1);
    if (last !== undefined && !(blank === "\n" ? /\n$/ : /\s$/).test(last)) this.#parts.push(blank);
  }

  #choose([named, size]: readonly PdfValue[], resources: PdfDictionary | undefined): void {
    const name = asName(named);
    this.#size = asNumber(size);
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
