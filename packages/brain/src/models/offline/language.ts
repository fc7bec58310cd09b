import { OFFLINE_LIMITS } from "@vidro/core";
import type { Language } from "@vidro/core/text";
import { classify, LEXICON } from "./classifier.ts";
import { commandLineIn } from "./command-line.ts";
import { tokensOf } from "./tokens.ts";

/** A language that is less probable than this is that of the conversation. */
const TELLING = 0.6;
/** A language that is less probable than this is not spoken. */
const UNTOLD = 0.15;

/** Least share of known words: the letters of unknown ones tell little. */
const KNOWN_SHARE = 1 / 3;

/** Words that people say alike in every language. */
const WORLDWIDE: ReadonlySet<string> = new Set(
  `cpu cpus ram swap uptime kernel ip ips dns gpu gpus df ps ls top env hostname whoami pwd git docker ssd hdd wifi uname distro
   gateway inodes crontab cron dmesg log logs commit commits branch stash`.split(/\s+/),
);

/** The language that a task is written in; `fallback` where nothing tells. */
export function languageOf(task: string, fallback: Language): Language {
  const words = tokensOf(task.slice(0, OFFLINE_LIMITS.taskChars)).slice(0, OFFLINE_LIMITS.taskWords);
  const spoken = words.map(({ plain }) => plain);
  const lettered = letteredLanguage(task);
  if (lettered !== undefined) return lettered;
  if (isTyped(task)) return fallback;
  const known = spoken.filter((word) => LEXICON.knows(word));
  if (isWorldwide(spoken) || known.length < spoken.length * KNOWN_SHARE) return fallback;
  return likeliest(classify(known).languages, fallback);
}

/** Whether a task is a line for a shell: its words are those of programs. */
function isTyped(task: string): boolean {
  return commandLineIn(task) !== undefined || commandLineIn(`${task} -x`) !== undefined;
}

/** The language whose letters and marks a text has, outside of quotes; undefined when it has none of its own. */
export function letteredLanguage(text: string): Language | undefined {
  const prose = text.replace(/"[^"]*"|`[^`]*`|“[^”]*”/g, " ");
  if (/[¿¡ñ]/i.test(prose)) return "es";
  return /[ãõçêôâà]/i.test(prose) ? "pt" : undefined;
}

/** Whether words tell no language: a quoted command or a path speaks English whatever its writer speaks. */
export function isWorldwide(words: readonly string[]): boolean {
  return words.every((word) => word.startsWith("§") || WORLDWIDE.has(word));
}

/** The most probable language, and the fallback where the words could be of several. */
export function likeliest(chances: { readonly [L in Language]: number }, fallback: Language): Language {
  const all: readonly Language[] = ["en", "pt", "es"];
  const best = all.toSorted((one, other) => chances[other] - chances[one])[0] ?? fallback;
  return chances[best] >= TELLING || chances[fallback] < UNTOLD ? best : fallback;
}
