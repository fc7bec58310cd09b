/** One word: quoted parts, escaped characters and plain ones. */
const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gsu;

/** The words of a command line in shell quoting, without expansion; undefined when a quote is not closed. */
export function commandWords(line: string): readonly string[] | undefined {
  const words = line.match(WORD) ?? [];
  if (line.replaceAll(WORD, "").trim() !== "") return undefined;
  return words.map(withoutQuotes);
}

/** A quoted part of a word, or an escaped character. */
const QUOTED = /'[^']*'|"(?:\\.|[^"\\])*"|\\./gsu;

function withoutQuotes(word: string): string {
  return word.replaceAll(QUOTED, (part) => {
    if (part.startsWith("\\")) return part.slice(1);
    const inside = part.slice(1, -1);
    return part.startsWith("'") ? inside : inside.replaceAll(/\\(["\\$`])/g, "$1");
  });
}
