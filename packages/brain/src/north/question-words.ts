import { Fault, STREAM_LIMITS } from "@vidro/core";
import { answerWords, CHANGED_YES, readAnswer } from "@vidro/core/text";
import type { JsonObject, QuestionAsked, RunHead } from "@vidro/core";
import type { Runs } from "../run/runs.ts";

/* Questions of runs as surfaces show them: as text for people, and as fields for programs. */

/** Whether a question ends the turn of a conversation; that of a stuck healing does not: its stream stays open. */
export function endsTurn({ about }: Pick<QuestionAsked, "about">): boolean {
  return about.kind !== "healing";
}

/** A question as text: its content, its options, and how to answer where that is not obvious. */
export function questionText(question: QuestionAsked, run: string): string {
  const { id, about, text, options, language } = question;
  const how = about.kind === "ask" ? [] : [answerWords(run, id, language)];
  return [text, ...options.map((option) => `- ${option}${option === CHANGED_YES ? ": …" : ""}`), ...how].join("\n");
}

/** A question as fields: with the whole plan where it is about one, and the path for its answer. */
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
  const { action, hash, plan, hand, class: harm, rule, always } = about;
  return {
    action_id: action,
    plan_hash: hash,
    ...(plan === undefined ? {} : { plan: { ...plan } }),
    ...(hand === undefined ? {} : { hand }),
    ...(harm === undefined ? {} : { class: harm }),
    ...(rule === undefined ? {} : { rule }),
    ...(always === undefined ? {} : { always_rule: always }),
  };
}

/** An open question of a run, and its entry. */
export interface WaitingRun {
  readonly head: RunHead;
  readonly question: QuestionAsked;
  readonly seq: number;
}

/** The question that an answer without a question id belongs to; CONFLICT naming all of them when there are several. */
export function onlyOne(waiting: readonly WaitingRun[]): WaitingRun | undefined {
  if (waiting.length < 2) return waiting[0];
  const ids = waiting.map(({ question }) => question.id).join(", ");
  throw new Fault("CONFLICT", `Several questions are open: ${ids}. Name the one that is answered.`);
}

/** The open questions of these runs. */
export async function findWaiting(runs: Pick<Runs, "read">, heads: readonly RunHead[]): Promise<readonly WaitingRun[]> {
  const waiting: WaitingRun[] = [];
  for (const head of heads) {
    const found = await openQuestion(runs, head);
    if (found !== undefined) waiting.push({ head, ...found });
  }
  return waiting;
}

/** Whether the next message of a conversation may answer a question: it ended the turn and is not about a call. */
export function takesWords({ question }: WaitingRun): boolean {
  return question.about.kind !== "call" && endsTurn(question);
}

/**
 * Whether a message answers a question: its text is one of the answers, and its client was shown the question where the
 * answer decides about an effect.
 */
export function isAnswerTo({ question }: WaitingRun, words: string, wasShown: boolean): boolean {
  return (wasShown || question.about.kind === "ask") && readAnswer(question, words) !== undefined;
}

/** The open question of a run and its entry; undefined when the run does not wait. */
export async function openQuestion(
  runs: Pick<Runs, "read">,
  head: RunHead,
): Promise<{ readonly question: QuestionAsked; readonly seq: number } | undefined> {
  if (head.status !== "asking") return undefined;
  // The event of a wait for the store may come behind the question.
  const after = Math.max(0, head.seq - STREAM_LIMITS.behindQuestion);
  const entries = await runs.read(head.id, after, STREAM_LIMITS.behindQuestion);
  const found = entries.findLast(({ event }) => event.type === "question.asked");
  return found?.event.type === "question.asked" ? { question: found.event, seq: found.seq } : undefined;
}
