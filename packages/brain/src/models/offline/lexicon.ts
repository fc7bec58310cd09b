import type { Vocabulary } from "./features.ts";

/** Endings that a stem of the lexicon may have. */
const STEM_CHARS = 3;

/** A verb with pronouns behind it: "bórralo", "envíamelo", "apague-os". */
const CLITIC = /^(\w{3,}?[aei]n?)-?(me|te|se|nos)?-?(l?[oa]s?|les?|me|nos)$/;

/** The words of phrases, and the lexicon's words with their meanings. */
export class Lexicon implements Vocabulary {
  readonly #words: Set<string>;
  readonly #meanings = new Map<string, string[]>();
  readonly #stems = new Map<string, string[]>();
  #spellings: readonly string[] | undefined;
  readonly #corrected = new Map<string, string>();
  /** Names that are like a slip in a word; they are neither known nor corrected. */
  #asWritten: ReadonlySet<string> = new Set();
  /** Words of every day without a meaning here; they are spelled right, and they are no names. */
  readonly #ordinary = new Set<string>();
  readonly #foreign = new Set<string>();

  /** Reads a lexicon: `meaning: word word stem*` on each line, `!meaning` for a foreign one; `words` are those of phrases. */
  constructor(text: string, words: Iterable<string>) {
    this.#words = new Set(words);
    for (const line of text.split("\n")) {
      const [, mark, meaning, rest = ""] = /^(!?)(\w+): (.*)$/.exec(line) ?? [];
      if (meaning === undefined) continue;
      if (mark === "!") this.#foreign.add(meaning);
      if (meaning === "as_written") this.#asWritten = new Set(rest.split(" "));
      else if (meaning === "ordinary") for (const word of rest.split(" ")) this.#ordinary.add(word);
      else for (const word of rest.split(" ")) this.#add(word, meaning);
    }
  }

  #add(word: string, meaning: string): void {
    const table = word.endsWith("*") ? this.#stems : this.#meanings;
    const key = word.endsWith("*") ? word.slice(0, -1) : word;
    table.set(key, [...(table.get(key) ?? []), meaning]);
    if (table === this.#meanings) this.#words.add(key);
  }

  knows(word: string): boolean {
    return this.#words.has(word) || this.meanings(word).length > 0;
  }

  /** Whether a word may be a name: neither a phrase nor the lexicon has it, and people do not say it every day. */
  isNameLike(word: string): boolean {
    return !this.#ordinary.has(word) && !this.knows(word);
  }

  /** Whether people say a word every day, without a meaning here. */
  isOrdinary(word: string): boolean {
    return this.#ordinary.has(word) && this.meanings(word).length === 0;
  }

  meanings(word: string): readonly string[] {
    const exact = this.#meanings.get(word);
    if (exact !== undefined) return exact;
    for (let length = word.length; length >= STEM_CHARS; length -= 1) {
      const found = this.#stems.get(word.slice(0, length));
      if (found !== undefined) return found;
    }
    const [, verb = ""] = CLITIC.exec(word) ?? [];
    return this.#meanings.get(verb) ?? [];
  }

  /** The meanings of a word that ask for more than a look. */
  foreignMeanings(word: string): readonly string[] {
    return this.meanings(word).filter((meaning) => this.#foreign.has(meaning));
  }

  /** A word as it is spelled right, when it is one slip of the finger (in a long word two) away from a known one. */
  correct(word: string): string {
    if (word.length < 4 || word.startsWith("§") || /\d/.test(word) || this.knows(word)) return word;
    if (this.#asWritten.has(word) || this.#ordinary.has(word)) return word;
    const found = this.#corrected.get(word) ?? this.#nearest(word);
    this.#corrected.set(word, found);
    return found;
  }

  /** Whether a short word is one with a meaning, without one of its vowels: `dsco`. */
  #isShortened(word: string, known: string): boolean {
    const isVowel = (at: number) =>
      /[aeiou]/.test(known.charAt(at)) && known.slice(0, at) + known.slice(at + 1) === word;
    return (
      known.length === word.length + 1 && this.#meanings.has(known) && Array.from(known).some((_, at) => isVowel(at))
    );
  }

  #nearest(word: string): string {
    this.#spellings ??= [...this.#words].filter((known) => known.length >= 4).sort();
    let most = word.length >= 8 ? 2 : 1;
    let best = word;
    for (const known of this.#spellings) {
      if (Math.abs(known.length - word.length) > most || known.charAt(0) !== word.charAt(0)) continue;
      const slips = slipsBetween(word, known, most);
      // In a short word only two exchanged letters or a vowel are a slip: `dsik` is disk, but `docs` is not `dos`.
      if (word.length < 5 && !isExchange(word, known) && !this.#isShortened(word, known)) continue;
      if (slips <= most) [best, most] = [known, slips - 1];
      if (most < 1) break;
    }
    return best;
  }
}

function isExchange(one: string, other: string): boolean {
  return one.split("").sort().join("") === other.split("").sort().join("");
}

/** Letters added, left out, replaced or exchanged with their neighbour; more than `most` is not counted on. */
function slipsBetween(one: string, other: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const row = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const isSame = one.charAt(at - 1) === other.charAt(to - 1);
      let cost = Math.min((last[to] ?? 0) + 1, (row[to - 1] ?? 0) + 1, (last[to - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwap =
        at > 1 && to > 1 && one.charAt(at - 1) === other.charAt(to - 2) && one.charAt(at - 2) === other.charAt(to - 1);
      if (isSwap) cost = Math.min(cost, (before[to - 2] ?? 0) + 1);
      row.push(cost);
    }
    if (Math.min(...row) > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[other.length] ?? most + 1;
}
