import { deferred } from "@vidro/core";
import { QUESTION_LIMITS } from "./limits.ts";

/** A question of a healing to a person. */
export interface HealingQuestion {
  readonly description: string;
  readonly options: readonly string[];
}

/** The answer when no person answers in time, or too many questions are open. */
export const ESCALATE = "escalate";

/** The open questions of an API. */
export interface HealingQuestions {
  readonly answerMs: number;
  /** Asks a question; `show` gets its id. Resolves to one of the options, or `escalate` when no answer comes. */
  readonly ask: (question: HealingQuestion, show: (healingId: string) => void, signal: AbortSignal) => Promise<string>;
  /** Answers a question; false when it is not open, or the answer is not one of its options. */
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
