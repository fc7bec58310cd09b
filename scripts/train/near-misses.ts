import { readFileSync } from "node:fs";
import { isAsked } from "./asked.ts";
import { PHRASES_FOLDER } from "./folder.ts";
import type { WrittenPhrase } from "./phrases.ts";

/** How many phrases are made of a line with slots of its own. */
const MADE = 6;
/** Steps through the values of a slot that are far apart, so that a line meets values of all kinds. */
const STRIDE = 7;

/** Phrases that only sound like an intent, made of the lines and the values in `near-misses.txt`. */
export function readNearMisses(): readonly WrittenPhrase[] {
  const made = new Map<string, WrittenPhrase>();
  let language: WrittenPhrase["language"] = "en";
  let values = new Map<string, readonly string[]>();
  for (const [index, line] of readFileSync(`${PHRASES_FOLDER}../near-misses.txt`, "utf8").split("\n").entries()) {
    const [, heading] = /^\[(en|pt|es)\]$/.exec(line) ?? [];
    const [, slot, list = ""] = /^\{(\w+)\} = (.*)$/.exec(line) ?? [];
    if (heading !== undefined) [language, values] = [heading as typeof language, new Map()];
    else if (slot !== undefined) values.set(slot, list.split(" | "));
    else if (line !== "" && !line.startsWith("#"))
      for (let turn = 0; turn < MADE; turn += 1) {
        const text = withValues(line, values, index + turn * STRIDE);
        made.set(`${language} ${text}`, { intent: "none", language, text });
      }
  }
  return [...made.values()].filter(({ text }) => !isAsked(text));
}

function withValues(line: string, values: ReadonlyMap<string, readonly string[]>, turn: number): string {
  let at = turn;
  return line.replace(/\{(\w+)\}/g, (mark, slot: string) => {
    const own = values.get(slot);
    at += 1;
    return own?.[at % own.length] ?? mark;
  });
}
