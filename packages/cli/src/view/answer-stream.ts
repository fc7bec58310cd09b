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
  /** The line that is being written, as it came: a character or a control sequence may come in two pieces. */
  #open = "";
  #shown = "";
  /** How many characters came so far. */
  #heard = 0;

  constructor(rows: LineRows) {
    this.#rows = rows;
  }

  /**
   * Takes a piece that begins at a character of the text; gives the rows of the lines that it completed. After a piece
   * that is missing nothing more is taken: the text is shown whole when it is complete.
   */
  push(piece: string, columns: number, from: number = this.#heard): readonly string[] {
    if (from !== this.#heard) return [];
    this.#heard += piece.length;
    const lines = (this.#open + piece).split("\n");
    this.#open = lines.pop() ?? "";
    return lines.flatMap((line) => this.#take(printable(line), columns));
  }

  /** Gives the rows of the line that is not complete yet, for a text that has ended. */
  end(columns: number): readonly string[] {
    const open = printable(this.#open);
    this.#open = "";
    return open === "" ? [] : this.#take(open, columns);
  }

  /** The rows of the line that is being written. */
  open(columns: number): readonly string[] {
    const open = printable(this.#open);
    return open === "" ? [] : wrapLine(open, columns);
  }

  /** Whether exactly this text was shown. */
  hasShown(text: string): boolean {
    const lines = text.split("\n").map((line) => printable(line));
    return this.#shown.trim() !== "" && this.#shown.trim() === lines.join("\n").trim();
  }

  #take(line: string, columns: number): readonly string[] {
    const isFirst = this.#shown.trim() === "";
    this.#shown += `${line}\n`;
    // Blank lines before the text are left out.
    return isFirst && line.trim() === "" ? [] : this.#rows(line, columns);
  }
}
