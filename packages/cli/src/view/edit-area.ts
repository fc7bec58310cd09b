import type { WriteStream } from "node:tty";
import { printable } from "@vidro/core/text";
import { columnsOf, USUAL_COLUMNS } from "./columns.ts";
import { keepSigns, markControl, toTerminal } from "./control-sequences.ts";
import type { EditedText } from "./line-editor.ts";
import { terminalName } from "./terminal-kind.ts";

const USUAL_ROWS = 24;
/** A tab as it is drawn: a terminal would move its cursor on by a number of columns that differs from place to place. */
const TAB = "  ";

/** An edited text in the last rows of a terminal, behind its prompt. */
export class EditArea {
  readonly #stream: WriteStream;
  readonly #prompt: string;
  readonly #isDumb = terminalName() === "dumb";
  /** Widths of the drawn rows above the cursor, and the column of the cursor. */
  #above: readonly number[] = [];
  #column = 0;
  #shown: EditedText | undefined;

  constructor(stream: WriteStream, prompt: string) {
    this.#stream = stream;
    this.#prompt = prompt;
  }

  /** Draws the text in place of the last one. */
  draw(state: EditedText): void {
    if (this.#isDumb) return this.#drawDumb(state);
    const columns = this.#stream.columns || USUAL_COLUMNS;
    const { rows, row, column } = layOut(this.#prompt, state, columns);
    const most = Math.max(1, (this.#stream.rows || USUAL_ROWS) - 1);
    // A text that is taller than the window is shown around its cursor.
    const first = Math.min(Math.max(0, row - most + 1), Math.max(0, rows.length - most));
    const drawn = rows.slice(first, first + most);
    const up = drawn.length - 1 - (row - first);
    this.#write(
      `${this.#home()}${drawn.join("\n")}${up > 0 ? markControl(`${up}A`) : ""}${markControl(`${column + 1}G`)}`,
    );
    this.#above = drawn.slice(0, row - first).map((one) => columnsOf(one));
    this.#column = column;
    this.#shown = state;
  }

  /** Draws it again below, after others have written. */
  drawAnew(state: EditedText): void {
    this.#forget();
    this.draw(state);
  }

  /** Leaves the text as it is and goes to the next line. */
  leave(): void {
    const { text } = this.#shown ?? { text: "" };
    if (!this.#isDumb) this.draw({ text, at: text.length });
    this.#write("\n");
    this.#forget();
  }

  /** Erases the text. */
  erase(): void {
    if (!this.#isDumb) this.#write(this.#home());
    this.#forget();
  }

  #forget(): void {
    [this.#above, this.#column, this.#shown] = [[], 0, undefined];
  }

  #home(): string {
    // A terminal that became narrower has broken the rows that no longer fit.
    const columns = this.#stream.columns || USUAL_COLUMNS;
    const broken = this.#above.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const up = broken + Math.floor(this.#column / columns);
    return `${up > 0 ? markControl(`${up}A`) : ""}${markControl("1G")}${markControl("J")}`;
  }

  /** A terminal that cannot move its cursor is given what was added, or the whole text on a new line. */
  #drawDumb(state: EditedText): void {
    const { text } = this.#shown ?? {};
    if (text !== undefined && state.text.startsWith(text)) this.#write(keepSigns(state.text.slice(text.length)));
    else this.#write(`${text === undefined ? "" : "\n"}${this.#prompt}${keepSigns(state.text)}`);
    this.#shown = state;
  }

  #write(text: string): void {
    this.#stream.write(toTerminal(text));
  }
}

/** The rows of a text behind its prompt, and the place of the cursor in them. */
function layOut(
  prompt: string,
  { text, at }: EditedText,
  columns: number,
): { readonly rows: readonly string[]; readonly row: number; readonly column: number } {
  const margin = " ".repeat(Math.min(columnsOf(prompt), Math.floor(columns / 2)));
  const rows: string[] = [];
  let place = { row: 0, column: 0 };
  let from = 0;
  let [row, width] = [prompt, columnsOf(prompt)];
  for (const line of text.split("\n")) {
    let index = from;
    for (const letter of line) {
      const shown = letter === "\t" ? TAB : keepSigns(printable(letter));
      const wide = columnsOf(shown);
      if (width + wide >= columns) {
        rows.push(row);
        [row, width] = [margin, margin.length];
      }
      if (index === at) place = { row: rows.length, column: width };
      row += shown;
      width += wide;
      index += letter.length;
    }
    if (index === at) place = { row: rows.length, column: width };
    rows.push(row);
    [row, width] = [margin, margin.length];
    from += line.length + 1;
  }
  return { rows, ...place };
}
