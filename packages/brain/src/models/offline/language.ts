import { OFFLINE_LIMITS } from "@vidro/core";
import type { Language } from "@vidro/core/text";
import { commandLineIn } from "./command-line.ts";
import { languageFeatures } from "./features.ts";
import { tokensOf } from "./tokens.ts";
import trained from "./trained-languages.json" with { type: "json" };

/** The languages, in the order of their columns. */
const LANGUAGES: readonly Language[] = ["en", "pt", "es"];
const weights = Buffer.from(trained.weights, "base64");
const KNOWN_WORDS: ReadonlySet<string> = new Set(trained.words.split(" "));

/** A language that is less probable than this is that of the conversation. */
const TELLING = 0.6;
/** A language that is less probable than this is not spoken. */
const UNTOLD = 0.15;

/** Least share of known words: the letters of unknown ones tell little. */
const KNOWN_SHARE = 1 / 3;

/** Words that people say alike in every language. */
const WORLDWIDE: ReadonlySet<string> = new Set(
  `cpu cpus ram swap uptime kernel ip ips dns gpu gpus df ps ls top env hostname whoami pwd git docker ssd hdd wifi uname distro
   gateway inodes crontab cron dmesg log logs commit commits branch stash npm version api endpoint endpoints backend frontend
   deploy`.split(/\s+/),
);

/** The language that a task is written in; `fallback` where nothing tells. */
export function languageOf(task: string, fallback: Language): Language {
  const lettered = letteredLanguage(task);
  if (lettered !== undefined) return lettered;
  if (isTyped(task)) return fallback;
  const tokens = tokensOf(task.slice(0, OFFLINE_LIMITS.taskChars)).slice(0, OFFLINE_LIMITS.taskWords);
  const spoken = tokens.map(({ plain }) => plain);
  if (isWorldwide(spoken)) return fallback;
  const known = spoken.filter((word) => KNOWN_WORDS.has(word) && !WORLDWIDE.has(word));
  if (known.length === 0 || known.length < spoken.filter((word) => !WORLDWIDE.has(word)).length * KNOWN_SHARE)
    return fallback;
  return likeliest(languageChances(known), fallback);
}

/** How probable each language is for the words of a sentence. */
export function languageChances(spoken: readonly string[]): { readonly [L in Language]: number } {
  const features = languageFeatures(spoken);
  const scores = new Float64Array(LANGUAGES.length);
  for (const bucket of features)
    for (let at = 0; at < LANGUAGES.length; at += 1)
      scores[at] = (scores[at] ?? 0) + weights.readInt8(bucket * LANGUAGES.length + at);
  const [en = 0, pt = 0, es = 0] = chancesOf(scores, trained.scale / Math.sqrt(Math.max(1, features.length)));
  return { en, pt, es };
}

/** Chances that add up to one, from scores of which each unit counts so much. */
export function chancesOf(scores: Float64Array, unit: number): Float64Array {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - most) * unit));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Whether a task is a line for a shell: its words are those of programs. */
function isTyped(task: string): boolean {
  return commandLineIn(task) !== undefined || commandLineIn(`${task} -x`) !== undefined;
}

/** The language whose letters and marks a text has, outside of quotes; undefined when it has none of its own. */
export function letteredLanguage(text: string): Language | undefined {
  const prose = text.replace(/"[^"]*"|`[^`]*`|“[^”]*”/g, " ").toLowerCase();
  if (/[¿¡ñ]|(^|\s)(qué|cuál|cuán|cuánt|quién|dónde|cómo|más)|ción(\s|$)/.test(prose)) return "es";
  if (/[ãõçêôâà]|(^|\s)é(\s|$)/.test(prose)) return "pt";
  // Who writes accents and asks "que" or "como" without one asks in Portuguese: in Spanish it would be "qué".
  return /^(que|como)\s.*[áéíóú]/.test(prose.trim()) ? "pt" : undefined;
}

/** Whether words tell no language: a quoted command or a path speaks English whatever its writer speaks. */
export function isWorldwide(words: readonly string[]): boolean {
  return words.every((word) => word.startsWith("§") || WORLDWIDE.has(word));
}

/** The most probable language, and the fallback where the words could be of several. */
export function likeliest(chances: { readonly [L in Language]: number }, fallback: Language): Language {
  const best = LANGUAGES.toSorted((one, other) => chances[other] - chances[one])[0] ?? fallback;
  return chances[best] >= TELLING || chances[fallback] < UNTOLD ? best : fallback;
}
