import type { WriteStream } from "node:tty";
import { printText, sayText } from "../program/output.ts";
import { USUAL_COLUMNS } from "./columns.ts";
import { LiveArea } from "./live-area.ts";

/** Where the rows of a run go. */
export interface Rows {
  /** Width of a row; unbounded where no person reads along. */
  readonly columns: number;
  /** Prints text that stays. */
  print(text: string): void;
  /** Draws these rows in place of the last ones. */
  draw(lines: readonly string[]): void;
  /** Erases the rows that were drawn. */
  clear(): void;
  /** Erases them for good. */
  close(): void;
}

/** Rows on a terminal; on a stream that is none, lines that stay, and nothing is drawn. */
export function openRows(stream: WriteStream): Rows {
  if (!stream.isTTY) {
    const print = stream === process.stdout ? printText : sayText;
    return { columns: Infinity, print, draw: () => undefined, clear: () => undefined, close: () => undefined };
  }
  const area = new LiveArea(stream);
  return {
    get columns() {
      return stream.columns || USUAL_COLUMNS;
    },
    print: (text) => area.print(text),
    draw: (lines) => area.draw(lines),
    clear: () => area.clear(),
    close: () => area.close(),
  };
}
