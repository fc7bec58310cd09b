import type { QuestionAnswered } from "../event.ts";
import { FAULTS } from "../fault.ts";
import type { FaultReport } from "../fault.ts";
import { canonicalJson } from "../json.ts";
import { UNASKED_ANSWER } from "../text/answer-words.ts";
import type { Action } from "../tool.ts";

/** What the model is told of the answer to its own question. */
export function wordsForModel({ answer, by }: QuestionAnswered): string {
  if (answer === UNASKED_ANSWER) return "No person could be asked. Decide without an answer.";
  if (answer !== "") return answer;
  return `No answer came${by === undefined ? " in time" : ""}. Decide without one.`;
}

/** What the model is told of an action that a person changed. */
export function changeNotice({ tool, input }: Action, { by = "A person" }: QuestionAnswered): string {
  return `${by} changed this call before it was carried out. This was carried out instead: ${tool} ${canonicalJson(input)}`;
}

/** The fault of an action that was not approved. */
export function refusalFault(answered: QuestionAnswered): FaultReport {
  if (answered.by === undefined) return { code: "APPROVAL_EXPIRED", message: FAULTS.APPROVAL_EXPIRED.says };
  if (answered.answer === UNASKED_ANSWER) return { code: "APPROVAL_UNASKED", message: FAULTS.APPROVAL_UNASKED.says };
  const words = answered.answer === "no" || answered.answer === "" ? "" : ` They said: ${answered.answer}`;
  return { code: "APPROVAL_DENIED", message: `${FAULTS.APPROVAL_DENIED.says}${words}` };
}
