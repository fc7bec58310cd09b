import type { Language } from "@vidro/core/text";
import { EN } from "./wording-en.ts";
import { ES } from "./wording-es.ts";
import { PT } from "./wording-pt.ts";

/** The name of a sentence that the built-in model can say. */
type SentenceName = keyof typeof EN;

/**
 * Says a sentence in one language: `{name}` is filled in, and `{count|one|# many}` is what fits the
 * count, with the count in the place of `#`.
 */
export type Say = (name: SentenceName, values?: { readonly [name: string]: string | number }) => string;

const WORDINGS: { readonly [L in Language]: { readonly [N in SentenceName]: string } } = { en: EN, pt: PT, es: ES };

/** How the built-in model speaks a language. */
export function speak(language: Language): Say {
  const wording = WORDINGS[language];
  return (name, values = {}) =>
    wording[name].replace(/\{[^{}]*\}/g, (mark) => {
      const [slot = "", one, many = ""] = mark.slice(1, -1).split("|");
      const value = String(values[slot] ?? "");
      if (one === undefined) return value;
      return (Number(value) === 1 ? one : many).replace("#", value);
    });
}

/** A number with at most `digits` decimals, written as the language does. */
export function number(value: number, say: Say, digits = 1): string {
  return String(Number(value.toFixed(digits))).replace(".", say("decimal"));
}

/** A size in the largest unit that leaves at least one whole. */
export function bytes(value: number, say: Say): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let scaled = value;
  let unit = 0;
  while (scaled >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return `${number(scaled, say)} ${units[unit] ?? ""}`;
}

/** A share of a hundred. */
export function percent(value: number, say: Say): string {
  return `${number(value, say)} %`;
}

/** A time in its two largest units. */
export function duration(minutes: number, say: Say): string {
  const parts = [
    say("days", { count: Math.floor(minutes / 1440) }),
    say("hours", { count: Math.floor(minutes / 60) % 24 }),
    say("minutes", { count: minutes % 60 }),
  ];
  const told = parts.filter((part) => !part.startsWith("0 "));
  return told.length === 0 ? say("minutes", { count: 0 }) : told.slice(0, 2).join(` ${say("and")} `);
}

/** Rows of an answer: the first few, and how many more there are. */
export function rows(lines: readonly string[], say: Say, most: number): string {
  const shown = lines.slice(0, most).map((line) => `- ${line}`);
  return [...shown, ...(lines.length > most ? [say("more", { count: lines.length - most })] : [])].join("\n");
}
