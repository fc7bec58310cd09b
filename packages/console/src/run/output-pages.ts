import { CONSOLE_LIMITS } from "@vidro/core";

/** One page of a long output: so many of its lines, and which. */
export interface OutputPage {
  readonly text: string;
  /** The first and the last line of the page, counted from one. */
  readonly from: number;
  readonly to: number;
}

/** An output in pages of `outputLines` lines; an empty output has one empty page. */
export function pagesOf(output: string): readonly OutputPage[] {
  const lines = output.replace(/\r?\n$/, "").split("\n");
  const { outputLines } = CONSOLE_LIMITS;
  return Array.from({ length: Math.ceil(lines.length / outputLines) }, (_, page) => {
    const shown = lines.slice(page * outputLines, (page + 1) * outputLines);
    return { text: shown.join("\n"), from: page * outputLines + 1, to: page * outputLines + shown.length };
  });
}
