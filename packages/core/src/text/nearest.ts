/** The word that a slip of the pen most likely stands for, if any of them is near. */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const typed = given.toLowerCase().slice(0, LONGEST);
  const near = words
    .map((word) => ({ word, edits: edits(typed, word.toLowerCase().slice(0, LONGEST)) }))
    .filter((one) => one.edits <= MOST_EDITS)
    .sort((one, other) => one.edits - other.edits);
  return near[0]?.word;
}

/** What is looked at of a word. */
const LONGEST = 64;
/** More than these is another word. */
const MOST_EDITS = 2;

/** How many letters have to be added, left out or replaced to make one word of the other. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 0; line < from.length; line += 1) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = row[column]! + (from[line] === to[column] ? 0 : 1);
      next.push(Math.min(replaced, row[column + 1]! + 1, next[column]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
