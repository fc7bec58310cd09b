import { userInfo } from "node:os";
import { oneLine, readAnswer, RUN_WIDE_YES, UNASKED_ANSWER } from "@vidro/core/text";
import type { QuestionAsked } from "@vidro/core";
import { dropStrayKeys, readKey, readWords } from "./keyboard.ts";
import { paint } from "./symbols.ts";
import { peopleStream, prompt as show } from "../program/output.ts";

/** An answer, and who gave it. */
export interface SignedAnswer {
  readonly text: string;
  readonly by: string;
}

/** Answers the questions of a run. */
export interface Answerer {
  /** Called before a question is shown. */
  ready(): Promise<void>;
  /** The answer; rejects when the signal fires because the question is closed. */
  answer(question: QuestionAsked, signal: AbortSignal): Promise<SignedAnswer>;
}

/** Answers yes, or the first option; what the policy denies is never asked. */
export const yesAnswerer: Answerer = {
  ready: async () => undefined,
  answer: async ({ options }) => ({ text: options[0] ?? "", by: "--yes" }),
};

/** Answers without a person: approves nothing, says that none could be asked, and stops where it cannot be known. */
export const absentAnswerer: Answerer = {
  ready: async () => undefined,
  answer: async ({ about }) => ({ text: ABSENT_ANSWERS[about.kind], by: "vidro" }),
};

const ABSENT_ANSWERS: { readonly [kind in QuestionAsked["about"]["kind"]]: string } = {
  ask: UNASKED_ANSWER,
  approval: UNASKED_ANSWER,
  tool: UNASKED_ANSWER,
  unknown: "stop",
  call: "",
  healing: "escalate",
  restored: "stop",
};

/** A person at the terminal. */
export const personAnswerer: Answerer = {
  ready: dropStrayKeys,
  async answer(question, signal) {
    const by = userName();
    const { kind } = question.about;
    if (kind === "approval" || kind === "tool") return { text: await approval(question, signal), by };
    return { text: await choice(question, signal), by };
  },
};

/** The keys of an approval in each language; `y` is a yes in all of them. */
const KEYS = {
  en: {
    yes: ["y", "yes"],
    run: "yes for this run",
    no: "no",
    why: "no, and say why",
    ask: "why not, or what instead?",
    help: "the keys",
  },
  pt: {
    yes: ["s", "sim"],
    run: "sim nesta execução",
    no: "não",
    why: "não, e dizer por quê",
    ask: "por que não, ou o que em vez disso?",
    help: "as teclas",
  },
  es: {
    yes: ["s", "sí"],
    run: "sí en esta ejecución",
    no: "no",
    why: "no, y decir por qué",
    ask: "¿por qué no, o qué en su lugar?",
    help: "las teclas",
  },
} as const;

const ESCAPE = "\u001b";

async function approval(question: QuestionAsked, signal: AbortSignal): Promise<string> {
  const { language = "en" } = question;
  const { yes, run, no, why, ask, help } = KEYS[language];
  const canCoverRun = question.options.includes(RUN_WIDE_YES);
  const shown = [
    [yes[0], yes[1]],
    ...(canCoverRun ? ([["r", run]] as const) : []),
    ["n", no],
    ["w", why],
    ["?", help],
  ] as const;
  const keys = `  ${shown.map(([key, word]) => `${paint("bold", key, peopleStream())} ${word}`).join("   ")}\n`;
  for (let prompt = keys; ;) {
    const struck = (await readKey(prompt, signal)).trim();
    const key = struck.toLowerCase();
    if (key === "w") return refusal(await readWords(`  ${ask} `, signal));
    if (key === "r" && canCoverRun) return RUN_WIDE_YES;
    if (struck === ESCAPE) return "no";
    // An s is short for sim and sí; in English it might as well mean skip or stop.
    const answer = key === "s" && language === "en" ? undefined : readAnswer(question, struck);
    if (answer !== undefined) return answer;
    prompt =
      key === "?"
        ? `${keys}  Esc ${no}   Ctrl-C ${ENDS[language]}\n`
        : `  ${keyName(struck)}: ${NO_ANSWER[language]}\n${keys}`;
  }
}

const ENDS = { en: "ends the run", pt: "encerra a execução", es: "termina la ejecución" } as const;
const NO_ANSWER = {
  en: "that is no answer, nothing was done.",
  pt: "isso não é resposta, nada foi feito.",
  es: "eso no es respuesta, no se hizo nada.",
} as const;

/** A key as it is called. */
function keyName(struck: string): string {
  if (struck === "") return "Enter";
  return struck.startsWith(ESCAPE) ? "that key" : oneLine(struck, WORDS_CHARS);
}

/** The most characters that are repeated of a text that is no answer. */
const WORDS_CHARS = 40;

/** A refusal, with the person's reason if they gave one. */
function refusal(why: string | undefined): string {
  return why === undefined || why.trim() === "" ? "no" : `no: ${why}`;
}

async function choice(question: QuestionAsked, signal: AbortSignal): Promise<string> {
  const { options, about, language = "en" } = question;
  const isFree = about.kind === "ask" || about.kind === "call";
  const hint = options.length === 0 ? "" : `1-${options.length}${isFree ? `, ${OWN_WORDS[language]}` : ""} `;
  for (;;) {
    const words = ((await readWords(`  ${hint}› `, signal)) ?? "").trim();
    const chosen = /^\d+$/.test(words) ? options[Number(words) - 1] : undefined;
    if (chosen !== undefined) return chosen;
    // With options, an empty line is a slip; without, it is an answer.
    const answer = words === "" && options.length > 0 ? undefined : readAnswer(question, words);
    if (answer !== undefined) return answer;
    show(`  ${words === "" ? "" : `${oneLine(words, WORDS_CHARS)}: ${NO_ANSWER[language]} `}${options.join(" / ")}\n`);
  }
}

const OWN_WORDS = { en: "or your own words", pt: "ou as suas palavras", es: "o sus palabras" } as const;

/** The name under which a person at this terminal answers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "person";
  }
}
