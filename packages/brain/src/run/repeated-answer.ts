import { canonicalJson, FOLLOW_LIMITS } from "@vidro/core";
import { changeInput } from "@vidro/core/run";
import { CHANGED_YES, changeIn } from "@vidro/core/text";
import type { Action, Journal, JsonObject, QuestionAnswered, QuestionAsked } from "@vidro/core";
import { recordedAnswer } from "./person-answer.ts";
import type { QuestionAnswer } from "./person-answer.ts";

/** Whether a person gave this answer to this question of a run before; then repeating it has no effect. */
export async function isAnswered(
  journal: Pick<Journal, "read">,
  run: string,
  { question, text, input }: Pick<QuestionAnswer, "text" | "input"> & { readonly question: string },
): Promise<boolean> {
  let asked: QuestionAsked | undefined;
  let action: Action | undefined;
  for (let after = 0; ; after += FOLLOW_LIMITS.batch) {
    const entries = await journal.read(run, after, FOLLOW_LIMITS.batch);
    for (const { event } of entries) {
      if (event.type === "model.replied") ({ action } = event);
      if (event.type === "question.asked" && event.id === question) asked = event;
      if (event.type === "question.answered" && event.id === question && asked !== undefined)
        return event.by !== undefined && isSameAnswer(event, { asked, action }, { text, input });
    }
    if (entries.length < FOLLOW_LIMITS.batch) return false;
  }
}

/** Whether an answer would be recorded as another one was; one with another change is not the same. */
function isSameAnswer(
  { answer, input }: QuestionAnswered,
  { asked, action }: { readonly asked: QuestionAsked; readonly action: Action | undefined },
  given: Pick<QuestionAnswer, "text" | "input">,
): boolean {
  const words = recordedAnswer(asked, given);
  if (words !== CHANGED_YES || action === undefined) return answer === words;
  const changed = changedBy(action, given);
  // A change that changes nothing is on record as a plain yes.
  if (changed === undefined || input === undefined)
    return changed !== undefined && answer !== CHANGED_YES && canonicalJson(changed) === canonicalJson(action.input);
  return answer === CHANGED_YES && canonicalJson(changed) === canonicalJson(input);
}

/** The input with a change; undefined when the words are no change of it. */
function changedBy(action: Action, { text, input }: Pick<QuestionAnswer, "text" | "input">): JsonObject | undefined {
  try {
    return changeInput(action, input ?? changeIn(text) ?? {});
  } catch {
    return undefined;
  }
}
