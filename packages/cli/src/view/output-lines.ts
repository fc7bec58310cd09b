import { TERMINAL_LIMITS } from "@vidro/core";
import { printable } from "@vidro/core/text";

/** Collects the output of a command: `push` gives the lines that are complete, `last` the last few. */
export class OutputLines {
  #open = "";
  #last: string[] = [];

  /** Takes a piece; gives the lines that it completed. */
  push(chunk: string): readonly string[] {
    const lines = (this.#open + chunk).split("\n");
    // A line that grows too long loses its beginning: its end shows what is going on.
    this.#open = (lines.pop() ?? "").slice(-TERMINAL_LIMITS.lineChars);
    const shown = lines.map((line) => shownLine(line));
    this.#last = [...this.#last, ...shown].slice(-TERMINAL_LIMITS.outputLines);
    return shown;
  }

  /** The last lines, with the one that is not complete yet. */
  last(): readonly string[] {
    const open = shownLine(this.#open);
    return open === "" ? this.#last : [...this.#last, open].slice(-TERMINAL_LIMITS.outputLines);
  }
}

/** The line as a terminal would show it: text after a carriage return replaces what was before. */
function shownLine(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return printable(text.slice(text.lastIndexOf("\r") + 1).slice(-TERMINAL_LIMITS.lineChars));
}
