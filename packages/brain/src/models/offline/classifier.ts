import type { Language } from "@vidro/core/text";
import { BUCKETS, featuresOf } from "./features.ts";
import { chancesOf } from "./language.ts";
import { Lexicon } from "./lexicon.ts";
import languages from "./trained-languages.json" with { type: "json" };
import trained from "./trained.json" with { type: "json" };
import { INTENTS } from "./want.ts";
import type { Intent } from "./want.ts";

/** The languages, in the order of their examples. */
const LANGUAGES: readonly Language[] = ["en", "pt", "es"];

/** A guess at an intent; `undefined` is what the model cannot do. */
export interface Guess {
  readonly intent: Intent | undefined;
  readonly probability: number;
}

const names: ReadonlySet<string> = new Set(INTENTS);
const isIntent = (name: string): name is Intent => names.has(name);
const columns = trained.intents.map((name) => (isIntent(name) ? name : undefined));

/** The words that the model knows. */
export const LEXICON = new Lexicon(trained.lexicon, languages.words.split(" "));

/** Where the pairs of each bucket begin; a pair is a column and its weight. */
const pairs = Buffer.from(trained.pairs, "base64");
const starts = startsOf(Buffer.from(trained.counts, "base64"));

function startsOf(counts: Buffer): Uint32Array {
  const found = new Uint32Array(BUCKETS + 1);
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) found[bucket + 1] = (found[bucket] ?? 0) + (counts[bucket] ?? 0);
  return found;
}

/** Tells what the words of a sentence may mean, most probable first. */
export function classify(words: readonly string[]): readonly Guess[] {
  const features = featuresOf(
    words.map((word) => LEXICON.correct(word)),
    LEXICON,
  );
  const scores = new Float64Array(columns.length);
  for (const bucket of features) addWeights(bucket, scores);
  const chances = chancesOf(scores, trained.scale / Math.sqrt(features.length));
  const guesses = columns.map((intent, at) => ({ intent, probability: chances[at] ?? 0 }));
  return guesses.sort((one, other) => other.probability - one.probability);
}

function addWeights(bucket: number, scores: Float64Array): void {
  const end = starts[bucket + 1] ?? 0;
  for (let pair = starts[bucket] ?? 0; pair < end; pair += 1) {
    const column = pairs[pair * 2] ?? 0;
    scores[column] = (scores[column] ?? 0) + pairs.readInt8(pair * 2 + 1);
  }
}

const wordSets = new Map<Intent, ReadonlySet<string>>();

/** The words that phrases of an intent have. */
export function wordsOfIntent(intent: Intent): ReadonlySet<string> {
  const known = wordSets.get(intent);
  if (known !== undefined) return known;
  const text: { readonly [name: string]: string } = trained.wordsOfIntents;
  const found = new Set((text[intent] ?? "").split(" "));
  wordSets.set(intent, found);
  return found;
}

const meaningSets = new Map<Intent, ReadonlySet<string>>();

/** The meanings that phrases of an intent have. */
export function meaningsOfIntent(intent: Intent): ReadonlySet<string> {
  const known = meaningSets.get(intent);
  if (known !== undefined) return known;
  const found = new Set([...wordsOfIntent(intent)].flatMap((word) => LEXICON.meanings(word)));
  meaningSets.set(intent, found);
  return found;
}

/** A phrase that asks for an intent. */
export function exampleOf(intent: Intent, language: Language): string {
  const all: { readonly [name: string]: readonly string[] } = trained.examples;
  return all[intent]?.[LANGUAGES.indexOf(language)] ?? "";
}
