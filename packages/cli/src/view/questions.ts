import { userInfo } from "node:os";
import { readAnswer } from "@vidro/core/text";
import type { QuestionAsked } from "@vidro/core";
import { dropStrayKeys, readKey, readWords } from "./keyboard.ts";
import { paint } from "./symbols.ts";

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

/** Answers without a person: approves nothing, says nothing, and stops a run whose outcome is unknown. */
export const absentAnswerer: Answerer = {
  ready: async () => undefined,
  answer: async ({ about }) => ({ text: ABSENT_ANSWERS[about.kind], by: "nobody" }),
};

const ABSENT_ANSWERS: { readonly [kind in QuestionAsked["about"]["kind"]]: string } = {
  ask: "",
  approval: "no",
  tool: "no",
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
    return { text: await choice(question.options, signal), by };
  },
};

async function approval(question: QuestionAsked, signal: AbortSignal): Promise<string> {
  const keys = `  ${paint("bold", "y")} yes   ${paint("bold", "n")} no   ${paint("bold", "w")} no, and say why\n`;
  for (let prompt = keys; ;) {
    const struck = (await readKey(prompt, signal)).trim();
    if (struck.toLowerCase() === "w") return refusal(await readWords("  why not, or what instead? ", signal));
    const answer = readAnswer(question, struck);
    if (answer !== undefined) return answer;
    // A single other key is ignored as a slip; longer input that is no answer gets the prompt again.
    prompt = struck.length > 1 && !struck.startsWith("\u001b") ? keys : "";
  }
}

/** A refusal, with the person's reason if they gave one. */
function refusal(why: string | undefined): string {
  return why === undefined || why.trim() === "" ? "no" : `no: ${why}`;
}

async function choice(options: readonly string[], signal: AbortSignal): Promise<string> {
  const prompt =
    options.length === 0 ? "  › " : `  1-${options.length}${options.length > 1 ? ", or your own words" : ""} › `;
  for (;;) {
    const words = ((await readWords(prompt, signal)) ?? "").trim();
    const chosen = /^\d+$/.test(words) ? options[Number(words) - 1] : undefined;
    if (chosen !== undefined) return chosen;
    // With options, an empty line is a slip; without, it is an answer.
    if (words !== "" || options.length === 0) return words;
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "person";
  }
}
