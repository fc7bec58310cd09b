import { editDistance } from "@vidro/core/text";
import { MEND_LIMITS } from "../limits.ts";
import { SYNONYMS } from "./synonyms.ts";

/** How one name resembles another. */
export type Likeness = "spelling" | "synonym" | "misspelling";

/** From this length on one edit is tolerated, and from twice this length on two. */
const SLIP_CHARS = 4;

/** A name without case, accents and separators. */
export function foldName(name: string): string {
  return name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
}

/** The one wanted name that a given name matches; undefined when none or several match. */
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
  return editDistance(word, other) <= (shorter < 2 * SLIP_CHARS ? 1 : 2);
}
