import { MEND_LIMITS } from "../limits.ts";
import { SYNONYMS } from "./synonyms.ts";

/** Why one name was taken for another. */
export type Likeness = "spelling" | "synonym" | "misspelling";

/** From this length on one letter may be wrong, and from twice this length on two. */
const SLIP_CHARS = 4;

/** A name without case, accents and separators. */
export function foldName(name: string): string {
  return name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
}

/** Which of the wanted names a given one means; undefined when none does, or more than one. */
export function meaningOf(
  given: string,
  wanted: readonly string[],
  synonyms: readonly (readonly string[])[],
): { readonly name: string; readonly likeness: Likeness } | undefined {
  const word = foldName(given);
  if (word === "" || word.length > MEND_LIMITS.nameChars) return undefined;
  const rows = [...synonyms, ...SYNONYMS].filter((row) => row.includes(word));
  const ways: readonly [Likeness, (other: string) => boolean][] = [
    ["spelling", (other) => other === word],
    ["synonym", (other) => rows.some((row) => row.includes(other))],
    ["misspelling", (other) => isSlip(word, other)],
  ];
  for (const [likeness, isMeant] of ways) {
    const meant = wanted.filter((name) => isMeant(foldName(name)));
    if (meant.length > 1) return undefined;
    if (meant[0] !== undefined) return { name: meant[0], likeness };
  }
  return undefined;
}

function isSlip(word: string, other: string): boolean {
  const shorter = Math.min(word.length, other.length);
  if (shorter < SLIP_CHARS || other.length > MEND_LIMITS.nameChars) return false;
  return distance(word, other) <= (shorter < 2 * SLIP_CHARS ? 1 : 2);
}

/** Insertions, deletions, substitutions and swaps of neighbours between two words. */
export function distance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const differs = left[i - 1] === right[j - 1] ? 0 : 1;
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + differs);
      const isSwap = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (isSwap) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return row[right.length] ?? 0;
}
