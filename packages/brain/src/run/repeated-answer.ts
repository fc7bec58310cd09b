import { FOLLOW_LIMITS } from "@vidro/core";
import { readAnswer } from "@vidro/core/text";
import type { Journal, QuestionAsked } from "@vidro/core";

/** Whether a person gave this answer to this question of a run before; then repeating it has no effect. */
export async function isAnswered(
  journal: Pick<Journal, "read">,
  run: string,
  { question, text }: { readonly question: string; readonly text: string },
): Promise<boolean> {
  let asked: QuestionAsked | undefined;
  for (let after = 0; ; after += FOLLOW_LIMITS.batch) {
    const entries = await journal.read(run, after, FOLLOW_LIMITS.batch);
    for (const { event } of entries) {
      if (event.type === "question.asked" && event.id === question) asked = event;
      if (event.type === "question.answered" && event.id === question && asked !== undefined)
        return event.by !== undefined && event.answer === readAnswer(asked, text);
    }
    if (entries.length < FOLLOW_LIMITS.batch) return false;
  }
}
