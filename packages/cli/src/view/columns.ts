import { withoutControls } from "./control-sequences.ts";

/** Columns of a terminal that does not tell its size. */
export const USUAL_COLUMNS = 80;

/** Wide scripts and emoji; the letters of a flag are narrow, and two of them are drawn as one flag. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/u;
const WITHOUT_WIDTH = /[\p{M}\p{Cf}]/u;

/** Text whose characters take one column each; most text is, and this test is cheaper than the count. */
const NARROW = /^[ -~]*$/;

/** How many columns a text takes on a terminal. */
export function columnsOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let columns = 0;
  for (const point of withoutControls(text)) {
    if (WITHOUT_WIDTH.test(point)) continue;
    columns += WIDE.test(point) ? 2 : 1;
  }
  return columns;
}

/** The leading blanks of a line, with the mark of a list behind them: further rows are indented as far. */
const LEAD = /^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?/;
/** Blanks within a line that set columns apart: such a line is a table, and breaking it would spoil it. */
const TABLE_GAP = /\S {2,}\S|\t/;

/** Breaks a line between words into rows of at most so many columns; a word that is longer stays whole. */
export function wrapLine(line: string, columns: number): readonly string[] {
  const [lead = ""] = LEAD.exec(line) ?? [];
  const rest = line.slice(lead.length);
  if (columnsOf(line) <= columns || TABLE_GAP.test(rest)) return [line];
  const margin = " ".repeat(Math.max(0, Math.min(columnsOf(lead), Math.floor(columns / 2))));
  const rows: string[] = [];
  let [row, width, isEmpty] = [lead, columnsOf(lead), true];
  for (const word of rest.split(" ")) {
    const wide = columnsOf(word);
    if (!isEmpty && width + 1 + wide > columns) {
      rows.push(row);
      [row, width, isEmpty] = [margin, margin.length, true];
    }
    row += isEmpty ? word : ` ${word}`;
    width += isEmpty ? wide : wide + 1;
    isEmpty = false;
  }
  return [...rows, row];
}

/** Breaks each line of a text between words. */
export function wrapText(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, columns));
}
