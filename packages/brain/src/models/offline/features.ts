/** Number of buckets that features are hashed into. */
export const BUCKETS = 1 << 15;

/** Number of buckets that features of a language are hashed into. */
export const LANGUAGE_BUCKETS = 1 << 14;

/** The word that stands for every word which is not known. */
const UNKNOWN = "?";

/** What the model knows of words: which there are, and their meanings. */
export interface Vocabulary {
  /** Whether a phrase or the lexicon has the word. */
  knows(word: string): boolean;
  /** The meanings of a word. */
  meanings(word: string): readonly string[];
}

/**
 * The features of a sentence, as buckets: its words, pairs of neighbours, its meanings and all pairs of them, and the
 * pieces of 3 and 4 letters of each word. The trainer and the model share this function.
 */
export function featuresOf(words: readonly string[], vocabulary: Vocabulary): readonly number[] {
  const buckets: number[] = [];
  const known = words.map((word) => (word.startsWith("§") || vocabulary.knows(word) ? word : UNKNOWN));
  const line = ["^", ...known, "$"];
  for (let at = 1; at < line.length; at += 1) {
    if (at < line.length - 1) buckets.push(bucketOf(`w ${line[at]}`));
    buckets.push(bucketOf(`b ${line[at - 1]} ${line[at]}`));
  }
  addMeanings(known, vocabulary, buckets);
  for (const word of words) if (!word.startsWith("§")) addPieces(`<${word}>`, buckets);
  return buckets;
}

/**
 * The features that tell the language of a sentence, as buckets: its words, the first of them, pairs of neighbours, and
 * the pieces of 3 and 4 letters of each word. "Do" is Portuguese inside of a sentence and English at its beginning.
 */
export function languageFeatures(words: readonly string[]): readonly number[] {
  const buckets: number[] = [];
  for (const [at, word] of words.entries()) {
    if (word.startsWith("§")) continue;
    buckets.push(bucketOf(`w ${word}`), bucketOf(`w ${word}`), bucketOf(`b ${words[at - 1] ?? "^"} ${word}`));
    addPieces(`<${word}>`, buckets);
  }
  return buckets.map((bucket) => bucket & (LANGUAGE_BUCKETS - 1));
}

/** Meanings of a sentence that count; a sentence with more is no question that a person asks. */
const MOST_MEANINGS = 14;

function addMeanings(words: readonly string[], vocabulary: Vocabulary, buckets: number[]): void {
  const all = words.flatMap((word) => (word.startsWith("§") || word === UNKNOWN ? [word] : vocabulary.meanings(word)));
  const meanings = [...new Set(all)].sort().slice(0, MOST_MEANINGS);
  for (const [at, one] of meanings.entries()) {
    // A meaning counts twice as much as a word: it is what the three languages have in common.
    buckets.push(bucketOf(`m ${one}`), bucketOf(`m ${one}`));
    for (const other of meanings.slice(at + 1)) buckets.push(bucketOf(`p ${one} ${other}`));
  }
}

function addPieces(word: string, buckets: number[]): void {
  for (let length = 3; length <= 4; length += 1)
    for (let at = 0; at + length <= word.length; at += 1) buckets.push(bucketOf(`c ${word.slice(at, at + length)}`));
}

/** FNV-1a, folded into the buckets. */
function bucketOf(feature: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at += 1) {
    hash ^= feature.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}
