/** What the README shows: blocks of code by the words before them. */
export class Readme {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The lines of the first block of code after some words. */
  blockAfter(words: string): readonly string[] {
    const at = this.#text.indexOf(words);
    const [, block] = at === -1 ? [] : (/^```\w*\n([^]*?)^```$/m.exec(this.#text.slice(at)) ?? []);
    if (block === undefined) throw new Error(`The README has no block after: ${words}`);
    return block.split("\n").filter((line) => line.trim() !== "");
  }

  /** What a pattern's first group finds in the text. */
  find(pattern: RegExp): string {
    const [, found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw new Error(`The README has nothing like ${pattern}`);
    return found;
  }
}

/** A line without what differs from machine to machine: numbers, sizes, times, paths, ids, names of users. */
function masked(line: string): string {
  return (
    line
      .trim()
      // The spinner of npm, which is overwritten on a screen.
      .replace(/^[\u2800-\u28ff]+/, "")
      .replaceAll(/ {2,}/g, " ")
      .replaceAll(/VIDRO_INVITATION=\S+/g, "VIDRO_INVITATION=TOKEN")
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
      .replaceAll(/(^|run )[0-9a-f]{6,}\b/g, "$1ID")
      .replaceAll(/act_[\w-]+/g, "act_ID")
      .replaceAll(/(^|[\s(])\/[\w./-]+/g, "$1/PATH")
      .replaceAll(/Answered by \S+:/g, "Answered by USER:")
      .replaceAll(/\d+(?:[.,]\d+)?/g, "N")
      .replaceAll(/\bN (?:[KMGT]i)?B\b/g, "N B")
      .replaceAll(/N min N s|N (?:ms|s)\b/g, "TIME")
  );
}

/** The part of a line that every machine prints: a machine may have no swap and no reserved disk. */
function headOf(line: string): string {
  return masked(line).split(/[(;]/)[0]?.trim() ?? "";
}

/** Lines of the README that are not, in this order, among the lines that were printed. */
export function missingLines(shown: readonly string[], printed: string): readonly string[] {
  const lines = printed.split("\n").map(headOf);
  let from = 0;
  return shown.filter((line) => {
    const at = lines.indexOf(headOf(line), from);
    if (at !== -1) from = at + 1;
    return at === -1;
  });
}
