import {
  BUCKETS,
  featuresOf,
  LANGUAGE_BUCKETS,
  languageFeatures,
} from "../../packages/brain/src/models/offline/features.ts";
import { Lexicon } from "../../packages/brain/src/models/offline/lexicon.ts";
import { STOP_WORDS } from "../../packages/brain/src/models/offline/words.ts";
import { tokensOf } from "../../packages/brain/src/models/offline/tokens.ts";
import { isAsked } from "./asked.ts";
import { fillSlots, KIND_WORDS, readLexicon, waysOf, withoutSlots, withWays } from "./phrases.ts";
import type { WrittenPhrase } from "./phrases.ts";

/** What a phrase is trained with: its features and the column of its intent or language. */
interface Example {
  readonly features: Int32Array;
  readonly column: number;
}

/** Weights of a linear model: one row for each bucket, one column for each class. */
export interface WeightTable {
  readonly buckets: number;
  readonly columns: number;
  readonly weights: Float32Array;
}

/** What is learnt from phrases: their words, and the weights of intents and of languages. */
export interface LearntWeights {
  readonly intents: readonly string[];
  readonly words: readonly string[];
  readonly lexicon: Lexicon;
  readonly byIntent: WeightTable;
  readonly byLanguage: WeightTable;
}

const LANGUAGES = ["en", "pt", "es"];
const EPOCHS = 12;
/** From this epoch on weights count towards their mean, which depends less on the order of the phrases than the last ones. */
const SETTLED = 4;
const RATE = 2.2;
/** How much of a weight is left after an epoch; small weights of rare features fade. */
const KEPT = 0.985;
const NEGLIGIBLE = 0.002;
/** A phrase whose intent is this probable is known well. */
const KNOWN = 0.97;

/** Learns intents and languages from phrases, the same weights from the same phrases. */
export function learnWeights(phrases: readonly WrittenPhrase[]): LearntWeights {
  const intents = [...new Set(phrases.map(({ intent }) => intent))].sort();
  const words = vocabularyOf(phrases);
  const lexicon = new Lexicon(readLexicon(), words);
  const said = phrases.flatMap(saidInWays);
  const examples = said.flatMap((phrase, index) => examplesOf(phrase, index, { intents, lexicon }));
  const spoken = said.map(({ language, text }, index) => spokenExample(language, wordsOf(fillSlots(text, index))));
  const common = Object.entries(STOP_WORDS).flatMap(([language, all]) =>
    [...all].flatMap((word) => Array.from({ length: tellingOf(word) }, () => spokenExample(language, [word]))),
  );
  return {
    intents,
    words,
    lexicon,
    byIntent: learnTable(examples, { buckets: BUCKETS, columns: intents.length }),
    byLanguage: learnTable([...spoken, ...common], { buckets: LANGUAGE_BUCKETS, columns: LANGUAGES.length }),
  };
}

/** How often a common word is taught: one that a single language has tells more than all other words. */
function tellingOf(word: string): number {
  return Object.values(STOP_WORDS).filter((all) => all.has(word)).length === 1 ? 6 : 1;
}

/** How many of the ways to say a phrase are taught; what the model cannot do has the most phrases already. */
const TAUGHT_WAYS = 14;
const TAUGHT_WAYS_OF_NONE = 5;

/** A phrase in the ways to say it that are taught; a question of the sets that judge the model is never one of them. */
export function saidInWays(phrase: WrittenPhrase, index: number): readonly WrittenPhrase[] {
  const count = waysOf(phrase.text, phrase.intent === "none" ? TAUGHT_WAYS_OF_NONE : TAUGHT_WAYS);
  if (count === 1) return [phrase];
  return Array.from({ length: count }, (_, way) => ({
    ...phrase,
    text: withWays(phrase.text, index + way * 7),
  })).filter(({ text }) => !isAsked(text));
}

function learnTable(examples: readonly Example[], { buckets, columns }: Omit<WeightTable, "weights">): WeightTable {
  const weights = new Float32Array(buckets * columns);
  const mean = new Float32Array(weights.length);
  const random = randomFrom(7);
  const order = examples.map((_, index) => index);
  const known = new Float32Array(examples.length);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    shuffle(order, random);
    const rate = RATE / (1 + epoch * 0.35);
    for (const index of order) {
      const example = examples[index];
      // What is known well is looked at in every third round only, to check that it stays so.
      if (example === undefined || ((known[index] ?? 0) > KNOWN && epoch % 3 !== 0)) continue;
      known[index] = learnExample(example, { weights, columns }, rate);
    }
    for (let at = 0; at < weights.length; at += 1) {
      weights[at] = weights[at]! * KEPT;
      if (epoch >= SETTLED) mean[at]! += weights[at]! / (EPOCHS - SETTLED);
    }
  }
  return { buckets, columns, weights: mean };
}

function vocabularyOf(phrases: readonly WrittenPhrase[]): readonly string[] {
  const words = phrases.flatMap(({ text }) => wordsOf(withoutSlots(text)));
  return [...new Set([...words, ...KIND_WORDS].filter((word) => !word.startsWith("§")))].sort();
}

/** The words of a text as the model sees them. */
function wordsOf(text: string): readonly string[] {
  return tokensOf(text).map(({ plain }) => plain);
}

const BEFORE: { readonly [language: string]: readonly string[] } = {
  en: [
    "please",
    "can you tell me",
    "hey,",
    "i want to know",
    "could you",
    "quick question:",
    "ok now",
    "i was wondering",
    "any idea",
    "do you happen to know",
    "would you mind checking",
    "just curious,",
    "i need",
    "i'd be interested in",
    "just making sure",
  ],
  pt: [
    "por favor",
    "pode me dizer",
    "ei,",
    "quero saber",
    "me diz",
    "você consegue ver",
    "e agora",
    "gostaria de saber",
    "você sabe",
    "por curiosidade,",
    "dá uma olhada:",
    "será que dá pra ver",
    "preciso saber",
  ],
  es: [
    "por favor",
    "puedes decirme",
    "oye,",
    "quiero saber",
    "dime",
    "a ver",
    "necesito saber",
    "me gustaría saber",
    "sabes",
    "por curiosidad,",
    "échale un vistazo:",
    "me preguntaba",
    "podrías mirar",
  ],
};
const AFTER: { readonly [language: string]: readonly string[] } = {
  en: ["please", "right now", "on this machine", "thanks", "here", "pls", "for me", "at the moment", "if you can"],
  pt: ["por favor", "agora", "nesta máquina", "obrigado", "aqui", "pfv", "pra mim", "neste momento", "se puder"],
  es: ["por favor", "ahora", "en esta máquina", "gracias", "aquí", "porfa", "para mí", "en este momento", "si puedes"],
};

/** A phrase as it is, with courtesy around it, with a slip of the finger, and with a word that nobody knows. */
function examplesOf(
  { intent, language, text }: WrittenPhrase,
  index: number,
  model: { readonly intents: readonly string[]; readonly lexicon: Lexicon },
): readonly Example[] {
  const random = randomFrom(index + 1);
  const pick = (words: readonly string[] = []): string => words[Math.floor(random() * words.length)] ?? "";
  const plain = fillSlots(text, index);
  const other = fillSlots(text, index * 3 + 5);
  const courteous = random() < 0.5 ? `${pick(BEFORE[language])} ${other}` : `${other} ${pick(AFTER[language])}`;
  const variants = [wordsOf(plain), wordsOf(courteous), slipped(wordsOf(other), random)];
  // A word that nobody knows says nothing against an intent; it says much for none of them already.
  if (intent !== "none") variants.push(blurred(wordsOf(plain), random), blurred(wordsOf(other), random));
  return variants.map((words) => ({
    features: Int32Array.from(
      featuresOf(
        words.map((word) => model.lexicon.correct(word)),
        model.lexicon,
      ),
    ),
    column: model.intents.indexOf(intent),
  }));
}

function spokenExample(language: string, words: readonly string[]): Example {
  return { features: Int32Array.from(languageFeatures(words)), column: LANGUAGES.indexOf(language) };
}

/** The words with two letters of a long one exchanged, or one left out. */
function slipped(words: readonly string[], random: () => number): readonly string[] {
  const long = words.flatMap((word, at) => (word.length > 4 && !word.startsWith("§") ? [at] : []));
  const chosen = long[Math.floor(random() * long.length)];
  return words.map((word, at) => {
    if (at !== chosen) return word;
    const place = 1 + Math.floor(random() * (word.length - 2));
    const pair = random() < 0.5 ? `${word.charAt(place + 1)}${word.charAt(place)}` : word.charAt(place);
    return `${word.slice(0, place)}${pair}${word.slice(place + 2)}`;
  });
}

/** The words with one of them unknown. */
function blurred(words: readonly string[], random: () => number): readonly string[] {
  const chosen = words.length < 4 ? -1 : Math.floor(random() * words.length);
  return words.map((word, at) => (at === chosen && !word.startsWith("§") ? "zorblat" : word));
}

/** One step of logistic regression; gives how probable the right column was. */
function learnExample(
  { features, column: right }: Example,
  { weights, columns }: Omit<WeightTable, "buckets">,
  rate: number,
): number {
  const share = 1 / Math.sqrt(features.length);
  const scores = new Float64Array(columns);
  for (let place = 0; place < features.length; place += 1) {
    const from = features[place]! * columns;
    for (let column = 0; column < columns; column += 1) scores[column]! += weights[from + column]!;
  }
  for (let column = 0; column < columns; column += 1) scores[column]! *= share;
  const gradient = new Float64Array(columns);
  spread(scores, gradient, right);
  // Most columns are right already; only the others are worth the work.
  const wrong = Int32Array.from(gradient.keys()).filter((column) => Math.abs(gradient[column]!) > NEGLIGIBLE);
  const steps = Float64Array.from(wrong, (column) => rate * share * gradient[column]!);
  for (let place = 0; place < features.length; place += 1) {
    const from = features[place]! * columns;
    for (let at = 0; at < wrong.length; at += 1) weights[from + wrong[at]!]! -= steps[at]!;
  }
  return 1 + gradient[right]!;
}

/** The difference between the share that each score gets and what it should have. */
function spread(scores: Float64Array, gradient: Float64Array, wanted: number): void {
  const most = Math.max(...scores);
  let sum = 0;
  for (let at = 0; at < scores.length; at += 1) sum += Math.exp((scores[at] ?? 0) - most);
  for (let at = 0; at < scores.length; at += 1)
    gradient[at] = Math.exp((scores[at] ?? 0) - most) / sum - (at === wanted ? 1 : 0);
}

/** A stream of numbers below 1 that is the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffle(order: number[], random: () => number): void {
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
}

/** The intent and the language that weights find most probable for a text. */
export function guess(
  { intents, lexicon, byIntent, byLanguage }: LearntWeights,
  text: string,
): { intent: string; language: string } {
  const words = wordsOf(text);
  const corrected = words.map((word) => lexicon.correct(word));
  return {
    intent: intents[bestColumn(byIntent, featuresOf(corrected, lexicon))] ?? "",
    language: LANGUAGES[bestColumn(byLanguage, languageFeatures(words))] ?? "",
  };
}

function bestColumn({ columns, weights }: WeightTable, features: readonly number[]): number {
  const scores = new Float64Array(columns);
  for (const bucket of features)
    for (let column = 0; column < columns; column += 1) scores[column]! += weights[bucket * columns + column]!;
  return scores.indexOf(Math.max(...scores));
}
