import { answerWords, STREAM } from "@vidro/core";
import type { JsonObject, QuestionAsked, RunHead } from "@vidro/core";
import type { Runs } from "../runs.ts";

/* Questions of runs as the surfaces show them: in words for people, and as fields for programs. */

/** Whether a question ends the turn of a conversation; a healing that is stuck is answered beside its open stream. */
export function endsTurn({ about }: Pick<QuestionAsked, "about">): boolean {
  return about.kind !== "healing";
}

/** A question as the assistant says it: all of it, its options, and how it is answered where that is not plain. */
export function questionText(question: QuestionAsked, run: string): string {
  const { id, about, text, options, language } = question;
  const how = about.kind === "ask" ? [] : [answerWords(run, id, language)];
  return [text, ...options.map((option) => `- ${option}`), ...how].join("\n");
}

/** A question as fields: the whole plan where it is about one, and where its answer is taken. */
export function questionShape(question: QuestionAsked, run: string): JsonObject {
  const { id, about, text, options, expiresAt } = question;
  return {
    question: text,
    options,
    question_id: id,
    run_id: run,
    about: about.kind,
    expires_at: new Date(expiresAt).toISOString(),
    answer_path: `/v1/runs/${run}/answers`,
    ...(about.kind === "approval" ? approvalShape(about) : {}),
  };
}

function approvalShape(about: Extract<QuestionAsked["about"], { kind: "approval" }>): JsonObject {
  const { action, hash, plan, hand, class: harm, rule } = about;
  return {
    action_id: action,
    plan_hash: hash,
    ...(plan === undefined ? {} : { plan: { ...plan } }),
    ...(hand === undefined ? {} : { hand }),
    ...(harm === undefined ? {} : { class: harm }),
    ...(rule === undefined ? {} : { rule }),
  };
}

/** The question that a run waits with, and its entry; nothing when the run does not wait. */
export async function openQuestion(
  runs: Pick<Runs, "read">,
  head: RunHead,
): Promise<{ readonly question: QuestionAsked; readonly seq: number } | undefined> {
  if (head.status !== "asking") return undefined;
  // A wait for the store may be told behind the question.
  const after = Math.max(0, head.seq - STREAM.behindQuestion);
  const entries = await runs.read(head.id, after, STREAM.behindQuestion);
  const found = entries.findLast(({ event }) => event.type === "question.asked");
  return found?.event.type === "question.asked" ? { question: found.event, seq: found.seq } : undefined;
}
