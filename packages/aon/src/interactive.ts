import { deferred } from "@vidro/core";
import { QUESTION_LIMITS } from "./limits.ts";

/** What a stuck healing asks a person. */
export interface HealingQuestion {
  readonly description: string;
  readonly options: readonly string[];
}

/** The answer that everything else comes down to: no answer, too many questions, nobody there. */
export const ESCALATE = "escalate";

/** Questions that wait for a person. */
export interface HealingQuestions {
  readonly answerMs: number;
  /** Asks; `show` gets the question's id. The answer is one of the options, or `escalate` when none comes. */
  readonly ask: (question: HealingQuestion, show: (healingId: string) => void, signal: AbortSignal) => Promise<string>;
  /** Answers a question; false when no such question waits, or the answer is none of its options. */
  answer(healingId: string, answer: string): boolean;
}

interface OpenQuestion {
  readonly options: readonly string[];
  readonly settle: (answer: string) => void;
}

/** The questions of one API; its answer route calls `answer`. */
export function healingQuestions(answerMs: number = QUESTION_LIMITS.answerMs): HealingQuestions {
  const waiting = new Map<string, OpenQuestion>();
  return {
    answerMs,
    async ask({ options }, show, signal) {
      if (waiting.size >= QUESTION_LIMITS.open || signal.aborted) return ESCALATE;
      const healingId = `heal_${crypto.randomUUID()}`;
      const { promise, resolve } = deferred<string>();
      const escalate = (): void => resolve(ESCALATE);
      const timer = setTimeout(escalate, answerMs);
      signal.addEventListener("abort", escalate, { once: true });
      waiting.set(healingId, { options, settle: resolve });
      show(healingId);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", escalate);
        waiting.delete(healingId);
      }
    },
    answer(healingId, answer) {
      const question = waiting.get(healingId);
      if (question === undefined || !question.options.includes(answer)) return false;
      question.settle(answer);
      return true;
    },
  };
}
