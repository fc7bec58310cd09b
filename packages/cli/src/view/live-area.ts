import type { WriteStream } from "node:tty";
import { columnsOf, USUAL_COLUMNS } from "./columns.ts";
import { markControl, toTerminal } from "./control-sequences.ts";

/** Rows of a terminal that does not tell its size. */
const USUAL_ROWS = 24;

/** A line that is too wide is clipped by the terminal, so each line is one row whatever the width of its letters. */
const CLIP = markControl("?7l");
const WRAP = markControl("?7h");

/** The last rows of a terminal, redrawn below the lines that stay. */
export class LiveArea {
  readonly #stream: WriteStream;
  /** How wide each of the rows was drawn. */
  #widths: readonly number[] = [];
  readonly #restore = (): void => this.clear();

  constructor(stream: WriteStream) {
    this.#stream = stream;
    process.on("exit", this.#restore);
  }

  /** Prints text that stays, above the live rows. */
  print(text: string): void {
    this.clear();
    this.#write(`${text}\n`);
  }

  /** Draws these rows in place of the last ones. */
  draw(lines: readonly string[]): void {
    // More rows than the window has would scroll away and could not be erased.
    const drawn = lines.slice(-Math.max(1, (this.#stream.rows || USUAL_ROWS) - 1));
    this.#write(`${this.#erase()}${CLIP}${drawn.map((line) => `${line}\n`).join("")}${WRAP}`);
    const columns = this.#stream.columns || USUAL_COLUMNS;
    this.#widths = drawn.map((line) => Math.min(columnsOf(line), columns));
  }

  /** Erases the live rows. */
  clear(): void {
    if (this.#widths.length === 0) return;
    this.#write(this.#erase());
    this.#widths = [];
  }

  /** Erases the live rows for good. */
  close(): void {
    this.clear();
    process.off("exit", this.#restore);
  }

  #write(text: string): void {
    this.#stream.write(toTerminal(text));
  }

  #erase(): string {
    if (this.#widths.length === 0) return "";
    // A terminal that became narrower has broken the rows that no longer fit.
    const columns = this.#stream.columns || USUAL_COLUMNS;
    const rows = this.#widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return `${markControl(`${rows}F`)}${markControl("J")}`;
  }
}
