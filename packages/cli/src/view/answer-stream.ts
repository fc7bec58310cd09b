import { printable } from "@vidro/core/text";
import { wrapLine } from "./columns.ts";
import { Markdown } from "./markdown.ts";
import type { Paint } from "./symbols.ts";

/** Turns one line of a text into rows. */
type LineRows = (line: string, columns: number) => readonly string[];

/** How the lines of a text become rows: as Markdown, or as they are. */
export function textRows(isMarkdown: boolean, paint: Paint): LineRows {
  if (!isMarkdown) return wrapLine;
  const markdown = new Markdown(paint);
  return (line, columns) => markdown.line(line, columns);
}

/** The text of a model while it is written: each line that is complete becomes rows that stay. */
export class AnswerStream {
  readonly #rows: LineRows;
  #open = "";
  #shown = "";

  constructor(rows: LineRows) {
    this.#rows = rows;
  }

  /** Takes a piece; gives the rows of the lines that it completed. */
  push(piece: string, columns: number): readonly string[] {
    const lines = (this.#open + printable(piece)).split("\n");
    this.#open = lines.pop() ?? "";
    return lines.flatMap((line) => this.#take(line, columns));
  }

  /** Gives the rows of the line that is not complete yet, for a text that has ended. */
  end(columns: number): readonly string[] {
    const open = this.#open;
    this.#open = "";
    return open === "" ? [] : this.#take(open, columns);
  }

  /** The rows of the line that is being written. */
  open(columns: number): readonly string[] {
    return this.#open === "" ? [] : wrapLine(this.#open, columns);
  }

  /** Whether exactly this text was shown. */
  hasShown(text: string): boolean {
    return this.#shown.trim() !== "" && this.#shown.trim() === printable(text).trim();
  }

  #take(line: string, columns: number): readonly string[] {
    const isFirst = this.#shown.trim() === "";
    this.#shown += `${line}\n`;
    // Blank lines before the text are left out.
    return isFirst && line.trim() === "" ? [] : this.#rows(line, columns);
  }
}
