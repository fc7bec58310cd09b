import { KNOWLEDGE_LIMITS } from "@vidro/core";

/*
 * Words as they are compared, in every store the same: without accents and capitals, and without the endings that tell
 * one from many in English, Portuguese and Spanish. Both sides of a comparison pass here, so that what remains of a word
 * need not be a word.
 */

const WORD = /[\p{L}\p{N}]+/gu;
const MARK = /\p{M}+/gu;
const LETTERS = /^\p{L}+$/u;
/** A shorter word keeps its end: "has", "dns". */
const STEMMED_CHARS = 4;

/** The words of a text in order, as they are compared. */
export function searchWords(text: string): readonly string[] {
  const plain = text.normalize("NFKD").replace(MARK, "").toLowerCase();
  return (plain.match(WORD) ?? []).map((word) => stemOf(word.slice(0, KNOWLEDGE_LIMITS.wordChars)));
}

/** The different words of a query, as many as count. */
export function queryWords(text: string): readonly string[] {
  return [...new Set(searchWords(text))].slice(0, KNOWLEDGE_LIMITS.queryWords);
}

function stemOf(word: string): string {
  if (word.length < STEMMED_CHARS || !LETTERS.test(word)) return word;
  if (word.endsWith("s") && !word.endsWith("ss")) return endOf(pluralOf(word.slice(0, -1)));
  return endOf(word);
}

/** Portuguese: locais, níveis and faróis are local, nível and farol. */
function pluralOf(word: string): string {
  return word.length < STEMMED_CHARS ? word : word.replace(/([aeo])i$/, "$1l");
}

/** service and services, configuração and configurações, policy and policies. */
function endOf(word: string): string {
  return word.length < STEMMED_CHARS ? word : word.replace(/ao$/, "o").replace(/e$/, "").replace(/y$/, "i");
}
