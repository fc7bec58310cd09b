import { BUCKETS } from "../../packages/brain/src/models/offline/features.ts";
import { tokensOf } from "../../packages/brain/src/models/offline/tokens.ts";
import type { LearntWeights, WeightTable } from "./learn.ts";
import { fillSlots, KIND_WORDS, readLexicon, withoutSlots } from "./phrases.ts";
import type { WrittenPhrase } from "./phrases.ts";

/** Weights below this share of the largest are left out. */
const SMALLEST = 2;
const MOST = 127;

/** The intents as a file: what the built-in model loads, as JSON. */
export function trainedFile(learnt: LearntWeights, phrases: readonly WrittenPhrase[]): string {
  const { intents } = learnt;
  const { scale, counts, pairs } = packed(learnt.byIntent);
  return `${JSON.stringify({
    intents,
    scale,
    lexicon: readLexicon(),
    wordsOfIntents: Object.fromEntries(intents.map((intent) => [intent, wordsOf(intent, phrases)])),
    examples: Object.fromEntries(intents.map((intent) => [intent, examplesOf(intent, phrases)])),
    counts: counts.toString("base64"),
    pairs: pairs.toString("base64"),
  })}\n`;
}

/** The languages as a file: a weight for each bucket and language, and the words of all phrases. */
export function languagesFile({ byLanguage, words }: LearntWeights): string {
  const scale = scaleOf(byLanguage);
  const weights = Buffer.from(Int8Array.from(byLanguage.weights, (weight) => Math.round(weight / scale)).buffer);
  return `${JSON.stringify({ scale, words: words.join(" "), weights: weights.toString("base64") })}\n`;
}

function scaleOf({ weights }: WeightTable): number {
  let largest = 0;
  for (const weight of weights) largest = Math.max(largest, Math.abs(weight));
  return Number((largest / MOST).toPrecision(6));
}

function packed(table: WeightTable): { scale: number; counts: Buffer; pairs: Buffer } {
  const { weights, columns } = table;
  const scale = scaleOf(table);
  const counts = Buffer.alloc(BUCKETS);
  const pairs: number[] = [];
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    let count = 0;
    for (let column = 0; column < columns; column += 1) {
      const value = Math.round((weights[bucket * columns + column] ?? 0) / scale);
      if (Math.abs(value) < SMALLEST) continue;
      pairs.push(column, value & 0xff);
      count += 1;
    }
    counts[bucket] = count;
  }
  return { scale, counts, pairs: Buffer.from(pairs) };
}

function wordsOf(intent: string, phrases: readonly WrittenPhrase[]): string {
  const own = phrases.filter((phrase) => phrase.intent === intent);
  const words = own.flatMap(({ text }) => tokensOf(withoutSlots(text)).map(({ plain }) => plain));
  const kinds = own.some(({ text }) => text.includes("{kind}")) ? KIND_WORDS : [];
  return [...new Set([...words, ...kinds].filter((word) => !word.startsWith("§")))].sort().join(" ");
}

/** The first phrase of each language: it is offered to people who were not understood. */
function examplesOf(intent: string, phrases: readonly WrittenPhrase[]): readonly string[] {
  return ["en", "pt", "es"].map((language) => {
    const first = phrases.find((phrase) => phrase.intent === intent && phrase.language === language);
    return fillSlots(first?.text ?? "", -1);
  });
}
