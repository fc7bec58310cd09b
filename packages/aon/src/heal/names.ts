import { editDistance } from "@vidro/core/text";
import { MEND_LIMITS } from "../limits.ts";
import { SYNONYMS } from "./synonyms.ts";

/** How one name resembles another. */
export type Likeness = "spelling" | "synonym" | "misspelling";

/** From this length on one edit is tolerated, and from twice this length on two. */
const SLIP_CHARS = 4;

/** Accents of Latin letters; the marks of other scripts make another letter. */
const ACCENTS = /[\u0300-\u036f]/g;

/** A name without case, accents and separators; letters of every script stay. */
export function foldName(name: string): string {
  return withoutAccents(name).replaceAll(/[^\p{L}\p{N}\p{M}]/gu, "");
}

/** A value without case, accents and separators between its words; other signs are part of it, as in `A+` and `C#`. */
export function foldValue(value: string): string {
  return withoutAccents(value)
    .trim()
    .replaceAll(/(?<=[\p{L}\p{N}])[\s_-]+(?=[\p{L}\p{N}])/gu, "");
}

function withoutAccents(text: string): string {
  return text.normalize("NFD").replaceAll(ACCENTS, "").toLowerCase();
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

/** Whether two names differ by a slip of the pen: another number, or another sign of a script without letters, is none. */
function isSlip(word: string, other: string): boolean {
  const shorter = Math.min(word.length, other.length);
  if (shorter < SLIP_CHARS || other.length > MEND_LIMITS.nameChars) return false;
  if (!LATIN.test(word) || !LATIN.test(other) || digitsOf(word) !== digitsOf(other)) return false;
  return editDistance(word, other) <= (shorter < 2 * SLIP_CHARS ? 1 : 2);
}

const LATIN = /^[a-z0-9]+$/;

function digitsOf(word: string): string {
  return word.replaceAll(/\D/g, "");
}
