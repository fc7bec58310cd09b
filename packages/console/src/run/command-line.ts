/* A command as a person types it. No shell reads it: quotes hold a word together, and nothing else has a meaning. */

const WORD = /"([^"]*)"|'([^']*)'|([^\s"']+)/y;

/** The words of a command line; undefined when a quote is not closed. */
export function wordsOfLine(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let at = 0;
  let isInside = false;
  while (at < line.length) {
    if (/\s/.test(line[at] ?? "")) {
      isInside = false;
      at += 1;
      continue;
    }
    WORD.lastIndex = at;
    const found = WORD.exec(line);
    if (found === null) return undefined;
    const piece = found[1] ?? found[2] ?? found[3] ?? "";
    if (isInside) words.push((words.pop() ?? "") + piece);
    else words.push(piece);
    isInside = true;
    at = WORD.lastIndex;
  }
  return words;
}
