import { readFileSync } from "node:fs";
import type { Language } from "@vidro/core/text";
import type { Want } from "../../packages/brain/src/models/offline/want.ts";

/** A question that the built-in model was not taught, and what it should take it for. */
export interface UnseenQuestion {
  readonly text: string;
  readonly language: Language;
  /** The task before it in the conversation, if it leans on one. */
  readonly before?: string;
  /** Empty when it should be refused. */
  readonly wants: readonly Want[];
  /** Readings that fit as well. */
  readonly others: readonly (readonly Want[])[];
}

/** Slots by the names that the files use for them. */
const SLOTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    n: "count",
    port: "number",
    pid: "number",
    program: "name",
    host: "name",
    from: "path",
    message: "text",
  }),
);
const MINUTES_OF_DAY = 1440;

/**
 * The questions of a file in this folder: `question => intent slot=value`, under headings such as `[pt]`. A question in a
 * conversation stands behind the task before it and `>>`.
 */
export function questionsIn(file: string): readonly UnseenQuestion[] {
  let language: Language = "en";
  return readFileSync(`${import.meta.dirname}/${file}`, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, heading] = /^\[(en|pt|es)\]$/.exec(line) ?? [];
      if (heading !== undefined) language = heading as Language;
      const [question, expected] = line.split(" => ");
      if (question === undefined || expected === undefined || line.startsWith("#")) return [];
      const [text = "", before] = question.split(" >> ").reverse();
      const [wants = [], ...others] = expected.split(" | ").map(wantsIn);
      return [{ text, language, wants, others, ...(before === undefined ? {} : { before }) }];
    });
}

function wantsIn(expected: string): readonly Want[] {
  return expected === "none" ? [] : expected.split(" + ").map(wantIn);
}

function wantIn(words: string): Want {
  const [kind = ""] = words.split(" ");
  const slots = [...words.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, slot = "", value = ""]) =>
    slotIn(kind, slot, value),
  );
  return Object.fromEntries([["kind", kind], ...slots]) as unknown as Want;
}

function slotIn(kind: string, slot: string, written: string): readonly [string, string | number | boolean] {
  const text = written.replace(/^"|"$/g, "");
  const value = /^\d+$/.test(text) ? Number(text) : text === "true" ? true : text;
  if (slot === "days") return ["minutes", Number(value) * MINUTES_OF_DAY];
  if (kind.startsWith("make-f")) return ["path", text];
  return [SLOTS.get(slot) ?? slot, value];
}

/** A want as one text, the same for the same want; the folder itself is the same as no folder. */
export function wantKey(want: Want): string {
  const slots = Object.entries(want).filter(([slot, value]) => !(slot === "path" && value === "."));
  return JSON.stringify(slots.sort(([one], [other]) => (one < other ? -1 : 1)));
}
