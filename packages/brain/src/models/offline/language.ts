import { plainWords, splitTask } from "./text.ts";
import { TOPICS } from "./topics.ts";
import type { Language } from "@vidro/core/text";
import { STOP_WORDS, TELLTALES, VERBS } from "./words.ts";

const LANGUAGES: readonly Language[] = ["en", "pt", "es"];

/** The words that speak for a language: its stop words and its names of topics. */
const VOCABULARY: { readonly [L in Language]: ReadonlySet<string> } = {
  en: vocabulary("en"),
  pt: vocabulary("pt"),
  es: vocabulary("es"),
};

/** Words that people say alike in every language. */
const WORLDWIDE: ReadonlySet<string> = new Set(
  "cpu cpus ram swap uptime kernel ip ips df ps ls hostname whoami pwd cwd git ssd hdd wifi ethernet uname distro".split(
    " ",
  ),
);

/** The language that a task is written in; `fallback` where nothing tells. */
export function languageOf(task: string, fallback: Language): Language {
  // A quoted command or a path speaks English whatever its writer speaks.
  const { prose } = splitTask(task);
  const words = plainWords(prose)
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const scores = new Map(LANGUAGES.map((language) => [language, telltales(prose, language)]));
  for (const word of words) {
    const speaking = LANGUAGES.filter((language) => VOCABULARY[language].has(word) && !WORLDWIDE.has(word));
    for (const language of speaking) scores.set(language, (scores.get(language) ?? 0) + 1 / speaking.length);
  }
  const best = Math.max(...scores.values());
  const tied = LANGUAGES.filter((language) => (scores.get(language) ?? 0) >= best - 0.01);
  return best === 0 || tied.includes(fallback) ? fallback : (tied[0] ?? fallback);
}

function telltales(prose: string, language: Language): number {
  return Math.min(4, prose.match(TELLTALES[language])?.length ?? 0) * 0.75;
}

function vocabulary(language: Language): ReadonlySet<string> {
  const topics = TOPICS.flatMap((topic) => [...topic[language].strong, ...topic[language].weak]);
  return new Set([...STOP_WORDS[language], ...VERBS[language], ...topics.flatMap((phrase) => phrase.split(" "))]);
}
