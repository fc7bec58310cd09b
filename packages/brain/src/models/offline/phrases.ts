import { EN } from "./phrases-en.ts";
import type { Phrases } from "./phrases-en.ts";
import { ES } from "./phrases-es.ts";
import { PT } from "./phrases-pt.ts";
import type { Language } from "@vidro/core/text";

export type { Phrases };

/** What the built-in model says, by language. */
export const PHRASES: { readonly [L in Language]: Phrases } = { en: EN, pt: PT, es: ES };

/** A number with at most `digits` decimals, written as the language does. */
export function number(value: number, say: Phrases, digits = 1): string {
  return String(Number(value.toFixed(digits))).replace(".", say.decimal);
}

/** A size in the largest unit that leaves at least one whole. */
export function bytes(value: number, say: Phrases): string {
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
export function percent(value: number, say: Phrases): string {
  return `${number(value, say)} %`;
}

/** A time in its two largest units. */
export function duration(minutes: number, say: Phrases): string {
  const parts = [
    [Math.floor(minutes / 1440), say.units.day],
    [Math.floor(minutes / 60) % 24, say.units.hour],
    [minutes % 60, say.units.minute],
  ] as const;
  const told = parts
    .filter(([count]) => count > 0)
    .map(([count, names]) => `${count} ${names[count === 1 ? 0 : 1] ?? ""}`);
  return told.length === 0 ? `0 ${say.units.minute[1] ?? ""}` : told.slice(0, 2).join(` ${say.and} `);
}

/** Rows of an answer: the first few, and how many more there are. */
export function rows(lines: readonly string[], say: Phrases, most: number): string {
  const shown = lines.slice(0, most).map((line) => `- ${line}`);
  return [...shown, ...(lines.length > most ? [say.more(lines.length - most)] : [])].join("\n");
}

/** Who the built-in model is, or that it did not understand, with what it can do and how to get a real model. */
export function introduction(say: Phrases, first: string): string {
  return [first, "", say.can, ...say.examples.map((example) => `- ${example}`), "", say.connect].join("\n");
}
