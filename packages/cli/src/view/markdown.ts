import { TERMINAL_LIMITS } from "@vidro/core";
import { columnsOf, wrapLine } from "./columns.ts";
import type { Paint } from "./symbols.ts";

/** What opens a block of code; behind signs that close on the same line it is code within a sentence. */
const FENCE = /^\s*(`{3,}(?=[^`]*$)|~{3,})/;
/** What closes one: nothing else is on its line. */
const FENCE_END = /^\s*(`{3,}|~{3,})\s*$/;
const HEADING = /^#{1,6}\s+(.*)$/;
/** Signs that close a heading; those of a word, as in `C#`, belong to it. */
const HEADING_END = /(?<=\s|^)#+$/;
const BULLET = /^(\s*)[-*+]\s+(?=\S)/;
const QUOTE = /^\s*>\s?/;
const RULE = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_RULE = /^\s*\|[\s:|-]+\|\s*$/;
const RULE_COLUMNS = 40;
/** Code, bold, emphasis and links; an underscore is no emphasis, since names of programs hold them. */
const SPANS =
  /`([^`]+)`|\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Turns Markdown into rows of a terminal, a line at a time, so that it can be shown while it is written. */
export class Markdown {
  readonly #paint: Paint;
  /** What opened the block of code that this line is in. */
  #fence: string | undefined;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  /** The rows of the next line. */
  line(source: string, columns: number): readonly string[] {
    if (this.#fence !== undefined) {
      const end = FENCE_END.exec(source)?.[1];
      if (end === undefined || !end.startsWith(this.#fence)) return [`  ${this.#paint("cyan", source)}`];
      this.#fence = undefined;
      return [];
    }
    const fence = FENCE.exec(source)?.[1];
    if (fence !== undefined) {
      this.#fence = fence;
      return [];
    }
    return this.#block(source, columns);
  }

  #block(source: string, columns: number): readonly string[] {
    const heading = HEADING.exec(source)?.[1];
    if (heading !== undefined) {
      const words = heading.trimEnd().replace(HEADING_END, "").trimEnd();
      return wrapLine(this.#paint("bold", this.#spans(words)), columns);
    }
    if (RULE.test(source)) return [this.#paint("dim", "─".repeat(Math.min(columns, RULE_COLUMNS)))];
    if (TABLE_ROW.test(source)) return [TABLE_RULE.test(source) ? this.#paint("dim", source) : this.#spans(source)];
    if (QUOTE.test(source)) {
      const rows = wrapLine(this.#spans(source.replace(QUOTE, "")), columns - columnsOf("│ "));
      return rows.map((row) => `${this.#paint("dim", "│")} ${row}`);
    }
    return wrapLine(this.#spans(source.replace(BULLET, "$1• ")), columns);
  }

  /** Marks within a line; a line that is too long is shown as it is, because finding its marks takes quadratic time. */
  #spans(text: string): string {
    if (text.length > TERMINAL_LIMITS.lineChars) return text;
    return text.replaceAll(SPANS, (_, ...[code, bold, emphasis, label, address]: readonly (string | undefined)[]) => {
      if (code !== undefined) return this.#code(code);
      if (bold !== undefined) return this.#words("bold", bold);
      if (emphasis !== undefined) return this.#words("italic", emphasis);
      return label === address ? String(address) : `${label} (${this.#paint("underline", String(address))})`;
    });
  }

  /** Code keeps its marks where there are no colours to tell it from words. */
  #code(code: string): string {
    const painted = this.#paint("cyan", code);
    return painted === code ? `\`${code}\`` : this.#words("cyan", code);
  }

  /** Paints each word, so that a row that is broken between them has its colour to the end. */
  #words(style: Parameters<Paint>[0], text: string): string {
    return text
      .split(" ")
      .map((word) => this.#paint(style, word))
      .join(" ");
  }
}
