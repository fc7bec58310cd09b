import { editDistance } from "./edit-distance.ts";

/** Characters of a word that are compared. */
const COMPARED_CHARS = 64;
/** A word that is further away than this is no suggestion. */
const MOST_EDITS = 2;

/** The word that a misspelt one most likely stands for; undefined when none is near. */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const typed = given.toLowerCase().slice(0, COMPARED_CHARS);
  const near = words
    .map((word) => ({ word, edits: editDistance(typed, word.toLowerCase().slice(0, COMPARED_CHARS)) }))
    .filter((one) => one.edits <= MOST_EDITS)
    .sort((one, other) => one.edits - other.edits);
  return near[0]?.word;
}
