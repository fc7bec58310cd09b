import type { FaultWords, Language } from "@vidro/core/text";
import type { Phrase, WORDS } from "./words.ts";

/*
 * What the console says is written in English where it is said. The words of other languages are in a table by the
 * English ones, which is loaded only where it is used.
 */

/** The languages of the console, by their own names. */
export const LANGUAGES: { readonly [language in Language]: string } = { en: "English", pt: "Português", es: "Español" };

/** Countries whose numbers and times are shown. */
const LOCALES: { readonly [language in Language]: string } = { en: "en", pt: "pt-BR", es: "es" };
const KEY = "vidro-language";

let language: Language = "en";
let words: typeof WORDS | undefined;
let faults: { readonly pt: FaultWords; readonly es: FaultWords } | undefined;
const listeners = new Set<() => void>();

/** The language that a person chose in Settings, in this browser. */
export function chosenLanguage(): Language | undefined {
  return languageIn(localStorage.getItem(KEY) ?? "");
}

/** Speaks the chosen language from now on, or that of the browser. */
export async function openLanguage(): Promise<void> {
  const asked = navigator.languages.map((tag) => languageIn(tag.slice(0, 2))).find((one) => one !== undefined);
  const next = chosenLanguage() ?? asked ?? "en";
  if (next !== "en") {
    words ??= (await import("./words.ts")).WORDS;
    faults ??= (await import("@vidro/core/fault-words")).FAULT_WORDS;
  }
  language = next;
  for (const listener of listeners) listener();
}

/** Chooses a language for this browser, or with none that of the browser itself. */
export function chooseLanguage(chosen: Language | undefined): Promise<void> {
  if (chosen === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, chosen);
  return openLanguage();
}

/** Calls back when another language is spoken; returns a function that stops that. */
export function watchLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function languageIn(tag: string): Language | undefined {
  return (Object.keys(LANGUAGES) as Language[]).find((one) => one === tag);
}

/** The language that is spoken now. */
export function languageNow(): Language {
  return language;
}

/** The names of numbers and times in the language that is spoken. */
export function localeNow(): string {
  return LOCALES[language];
}

/** What faults say in the language that is spoken; undefined for English, in which they have their own messages. */
export function faultTable(): FaultWords | undefined {
  return language === "en" ? undefined : faults?.[language];
}

/** A phrase in the language that is spoken; `{name}` stands for a value. */
export function translate(phrase: Phrase, values: { readonly [name: string]: string | number } = {}): string {
  return phraseText(phrase).replaceAll(/\{(\w+)\}/g, (whole, name: string) => wordOf(values[name] ?? whole));
}

type Plural<Text> = Text extends `{n} ${infer Noun}s` ? Noun : never;

/** A number with what it counts. */
export function countOf(n: number, noun: Plural<Phrase>): string {
  return translate(n === 1 ? (`{n} ${noun}` as Phrase) : (`{n} ${noun}s` as Phrase), { n });
}

/** A phrase in the language that is spoken, its values not filled in. */
export function phraseText(phrase: Phrase): string {
  return language === "en" || words === undefined ? phrase : words[phrase][language === "pt" ? 0 : 1];
}

function wordOf(value: string | number): string {
  return typeof value === "number" ? value.toLocaleString(LOCALES[language]) : value;
}
