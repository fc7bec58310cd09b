import { say } from "../../program/output.ts";
import { USUAL_COLUMNS, wrapLine } from "../../view/columns.ts";

/** Writes lines for people, broken between words where the terminal is narrower. */
export function sayWrapped(...lines: readonly string[]): void {
  const columns = process.stderr.columns || USUAL_COLUMNS;
  say(...lines.flatMap((line) => wrapLine(line, columns)));
}
