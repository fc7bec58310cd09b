import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { TestContext } from "node:test";
import {
  chooseLanguage,
  chosenLanguage,
  countOf,
  languageNow,
  localeNow,
  openLanguage,
  translate,
  watchLanguage,
} from "../../packages/console/src/words/translate.ts";

/** What a browser keeps, in the place of its storage. */
let kept: Map<string, string>;

/** Lets the browser ask for these languages. */
function browserAsks(t: TestContext, ...languages: readonly string[]): void {
  t.mock.getter(navigator, "languages", () => languages);
}

const storage = Object.getOwnPropertyDescriptor(globalThis, "localStorage");

beforeEach(() => {
  kept = new Map();
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    },
  });
});

afterEach(async (t) => {
  browserAsks(t as TestContext, "en");
  kept.clear();
  await openLanguage();
  if (storage !== undefined) Object.defineProperty(globalThis, "localStorage", storage);
});

test("the language is the first of the browser's that there are words in, and English without one", async (t) => {
  for (const [asked, language] of [
    [["pt-BR", "en"], "pt"],
    [["es-419"], "es"],
    [["de", "fr", "es", "pt"], "es"],
    [["de-DE", "ja"], "en"],
    [["en-GB", "pt"], "en"],
    [[], "en"],
    [["", "x", "pt"], "pt"],
  ] as const) {
    browserAsks(t, ...asked);
    await openLanguage();
    assert.equal(languageNow(), language, asked.join(","));
    assert.equal(localeNow(), { en: "en", pt: "pt-BR", es: "es" }[language]);
  }
});

test("a language that was chosen counts before the browser's, until it is given up; rubbish is none", async (t) => {
  browserAsks(t, "es");
  await chooseLanguage("pt");
  assert.deepEqual([languageNow(), chosenLanguage()], ["pt", "pt"]);
  await chooseLanguage(undefined);
  assert.deepEqual([languageNow(), chosenLanguage()], ["es", undefined]);
  for (const rubbish of ["", "xx", "__proto__", "pt-BR", "constructor"]) {
    kept.set("vidro-language", rubbish);
    await openLanguage();
    assert.deepEqual([languageNow(), chosenLanguage()], ["es", undefined], rubbish);
  }
});

test("who watches is told of each change, until they stop", async (t) => {
  browserAsks(t, "en");
  const heard: string[] = [];
  const stop = watchLanguage(() => heard.push(languageNow()));
  await chooseLanguage("es");
  await chooseLanguage("en");
  stop();
  await chooseLanguage("pt");
  assert.deepEqual(heard, ["es", "en"]);
});

test("values stand in their places once, also those that look like places, and a missing one is left open", async (t) => {
  browserAsks(t, "en");
  await openLanguage();
  assert.equal(translate("{plan} on {hand}", { plan: "{hand}", hand: "$& web" }), "{hand} on $& web");
  assert.equal(translate("{plan} on {hand}", { plan: "x" }), "x on {hand}");
  assert.equal(translate("{plan} on {hand}", { plan: 0, hand: "" }), "0 on ");
});

test("numbers are written as each language writes them, and one is one", async (t) => {
  browserAsks(t, "en");
  for (const [language, many] of [
    ["en", /1,234,567/],
    ["pt", /1\.234\.567/],
    ["es", /1\.234\.567/],
  ] as const) {
    await chooseLanguage(language);
    assert.match(countOf(1_234_567, "run"), many);
    assert.notEqual(countOf(1, "run").replace("1", ""), countOf(2, "run").replace("2", ""), language);
    assert.equal(countOf(0, "run").replace("0", "2"), countOf(2, "run"));
  }
});
