import { FOLLOW_LIMITS } from "@vidro/core";
import type { Journal, QuestionAsked } from "@vidro/core";
import { recordedAnswer } from "./person-answer.ts";
import type { QuestionAnswer } from "./person-answer.ts";

/** Whether a person gave this answer to this question of a run before; then repeating it has no effect. */
export async function isAnswered(
  journal: Pick<Journal, "read">,
  run: string,
  { question, text, input }: Pick<QuestionAnswer, "text" | "input"> & { readonly question: string },
): Promise<boolean> {
  let asked: QuestionAsked | undefined;
  for (let after = 0; ; after += FOLLOW_LIMITS.batch) {
    const entries = await journal.read(run, after, FOLLOW_LIMITS.batch);
    for (const { event } of entries) {
      if (event.type === "question.asked" && event.id === question) asked = event;
      if (event.type === "question.answered" && event.id === question && asked !== undefined)
        return event.by !== undefined && event.answer === recordedAnswer(asked, { text, input });
    }
    if (entries.length < FOLLOW_LIMITS.batch) return false;
  }
}
