import { userInfo } from "node:os";
import { oneLine, readAnswer, UNASKED_ANSWER } from "@vidro/core/text";
import type { QuestionAsked } from "@vidro/core";
import { NO_ANSWER, readApproval } from "./approval-keys.ts";
import type { Review } from "./approval-keys.ts";
import { dropStrayKeys, readWords } from "./keyboard.ts";
import { terminalInput } from "./terminal-input.ts";
import { prompt as show } from "../program/output.ts";

/** An answer, and who gave it. */
export interface SignedAnswer {
  readonly text: string;
  readonly by: string;
}

/** Answers the questions of a run. */
export interface Answerer {
  /** Called before a question is shown. */
  ready(): Promise<void>;
  /**
   * The answer; rejects when the signal fires because the question is closed. `review` tells what "always" would mean.
   */
  answer(question: QuestionAsked, signal: AbortSignal, review?: Review): Promise<SignedAnswer>;
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
  async answer(question, signal, review) {
    const by = userName();
    const { kind } = question.about;
    // From the first key to the last one, so that none is left to the terminal in between.
    const release = terminalInput.hold();
    try {
      if (kind === "approval" || kind === "tool") return { text: await readApproval(question, signal, review), by };
      return { text: await choice(question, signal), by };
    } finally {
      release();
    }
  },
};

/** The most characters that are repeated of a text that is no answer. */
const WORDS_CHARS = 40;

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
