import assert from "node:assert/strict";
import { test } from "node:test";
import { guess, learnWeights } from "../../scripts/train/learn.ts";
import { fillSlots, readPhrases } from "../../scripts/train/phrases.ts";
import type { WrittenPhrase } from "../../scripts/train/phrases.ts";

/** How many of a hundred held-out phrases have to be understood: alone, without the slots and rules around the classifier. */
const LEAST_INTENTS = 85;
const LEAST_LANGUAGES = 92;
const LEAST_PHRASES = 2000;

/** Splits off every fifth phrase of an intent and language; another fifth in each language, so that no meaning is missing in all. */
function splitPhrases(phrases: readonly WrittenPhrase[]): { taught: WrittenPhrase[]; heldOut: WrittenPhrase[] } {
  const places = new Map<string, number>();
  const taught: WrittenPhrase[] = [];
  const heldOut: WrittenPhrase[] = [];
  for (const phrase of phrases) {
    const key = `${phrase.intent} ${phrase.language}`;
    const place = (places.get(key) ?? ["en", "pt", "es"].indexOf(phrase.language) * 2) + 1;
    places.set(key, place);
    (place % 5 === 0 ? heldOut : taught).push(phrase);
  }
  return { taught, heldOut };
}

/** Shares of a hundred, by a property of the phrases, lowest first. */
function sharesBy(results: readonly { key: string; isRight: boolean }[]): string {
  const sums = new Map<string, { right: number; all: number }>();
  for (const { key, isRight } of results) {
    const sum = sums.get(key) ?? { right: 0, all: 0 };
    sums.set(key, { right: sum.right + Number(isRight), all: sum.all + 1 });
  }
  return [...sums]
    .map(([key, { right, all }]) => ({ key, share: Math.round((right / all) * 100) }))
    .sort((one, other) => one.share - other.share)
    .map(({ key, share }) => `${key} ${share} %`)
    .join(", ");
}

test("a model that is taught four fifths of the phrases understands the fifth that is held out", (t) => {
  const phrases = readPhrases();
  assert.ok(phrases.length >= LEAST_PHRASES, `${phrases.length} phrases`);
  assert.equal(
    new Set(phrases.map(({ intent, language, text }) => `${intent} ${language} ${text}`)).size,
    phrases.length,
  );
  const { taught, heldOut } = splitPhrases(phrases);
  const learnt = learnWeights(taught);
  const results = heldOut.map((phrase, index) => ({
    phrase,
    guessed: guess(learnt, fillSlots(phrase.text, index + 2)),
  }));
  const isRight = ({ phrase, guessed }: (typeof results)[number]) => guessed.intent === phrase.intent;
  const intents = (results.filter(isRight).length / results.length) * 100;
  const texts = phrases.map(({ text }) => text);
  // People say some phrases alike in several languages.
  const telling = results.filter(({ phrase: { text } }) => texts.indexOf(text) === texts.lastIndexOf(text));
  const isSpoken = ({ phrase, guessed }: (typeof results)[number]) => guessed.language === phrase.language;
  const languages = (telling.filter(isSpoken).length / telling.length) * 100;
  t.diagnostic(
    `${phrases.length} phrases, ${heldOut.length} held out: intent ${intents.toFixed(1)} %, language ${languages.toFixed(1)} %`,
  );
  t.diagnostic(
    `by language: ${sharesBy(results.map((each) => ({ key: each.phrase.language, isRight: isRight(each) })))}`,
  );
  t.diagnostic(`by intent: ${sharesBy(results.map((each) => ({ key: each.phrase.intent, isRight: isRight(each) })))}`);
  assert.ok(intents >= LEAST_INTENTS, `${intents} of 100 intents`);
  assert.ok(languages >= LEAST_LANGUAGES, `${languages} of 100 languages`);
});
