import { canonicalJson, Fault, handAction, RUN_LIMITS } from "@vidro/core";
import { changeInput } from "@vidro/core/run";
import { ALWAYS_YES, asksForAlways, CHANGED_YES, changeIn, isApproval, readAnswer } from "@vidro/core/text";
import type { Action, FaultReport, JsonObject, QuestionAnswered, QuestionAsked } from "@vidro/core";
import type { RunState } from "@vidro/core/run";
import { allowAlways, hostPolicyFault } from "./late-ports.ts";
import type { RunDependencies } from "./run-dependencies.ts";

/** An answer to a question of a run. */
export interface QuestionAnswer {
  readonly text: string;
  readonly by: string;
  /** Id of the question that is answered; the open one when left out. */
  readonly question?: string | undefined;
  /** With a yes to a plan: fields of the action's input that run instead of the model's; `null` leaves one out. */
  readonly input?: JsonObject | undefined;
  /** Whether the caller may approve effects; left out by code that acts for the person at this machine. */
  readonly mayApprove?: boolean;
  /** Whether the caller may add to the policy of the brain's host; left out by the same code. */
  readonly mayAllowAlways?: boolean;
}

/** The open question of a run and its action; CONFLICT when there is none, or another than the one that is named. */
export function openQuestionOf(
  state: RunState,
  named: string | undefined,
): { question: QuestionAsked; action?: Action } {
  const { phase } = state;
  if (phase.name !== "asking") throw new Fault("CONFLICT", "No question is open in this run.");
  if (named !== undefined && named !== phase.question.id)
    throw new Fault("CONFLICT", `Question ${named} is closed; the open one is ${phase.question.id}.`);
  return phase;
}

/** The words of an answer as they are recorded; undefined when the text is no answer to the question. */
export function recordedAnswer(
  question: Pick<QuestionAsked, "about" | "options">,
  { text, input }: Pick<QuestionAnswer, "text" | "input">,
): string | undefined {
  const answer = readAnswer(question, text.slice(0, RUN_LIMITS.answerChars));
  const changes = input !== undefined && answer === question.options[0] && question.about.kind === "approval";
  return changes ? CHANGED_YES : answer;
}

/**
 * The event of a person's answer to the open question. BAD_ARGUMENTS when the text is none of the options or a change
 * cannot be carried out: the question stays open. FORBIDDEN when the caller may not give that answer.
 */
export async function answeredBy(
  state: RunState,
  given: QuestionAnswer,
  deps: Pick<RunDependencies, "hand" | "redactor">,
): Promise<QuestionAnswered> {
  const { question, action } = openQuestionOf(state, given.question);
  const answer = recordedAnswer(question, given);
  const { id, options } = question;
  const isChange = answer === CHANGED_YES;
  if (answer === undefined && question.about.kind === "approval" && asksForAlways(given.text))
    throw staysOpen(hostPolicyFault(question.about.hand ?? "the hand"));
  if (answer === undefined || (given.input !== undefined && !isChange) || (isChange && action === undefined))
    throw new Fault("BAD_ARGUMENTS", `The answer is ${options.join(" or ")}; question ${id} stays open.`);
  if (given.mayApprove === false && isApproval(question, answer))
    throw new Fault("FORBIDDEN", "scope approve required");
  const answered = { type: "question.answered", id, answer, by: given.by } as const;
  if (answer === ALWAYS_YES && given.mayAllowAlways === false)
    throw staysOpen({
      code: "FORBIDDEN",
      message: "scope admin required: the rule would hold for the runs of every owner. A yes for this run needs none.",
    });
  if (answer === ALWAYS_YES && action !== undefined && question.about.kind === "approval") {
    const added = await allowAlways(deps.hand, handAction(action, state.tools), question.about.hash);
    if (typeof added !== "string") throw staysOpen(added);
    return { ...answered, rule: added };
  }
  if (!isChange || action === undefined) return answered;
  const input = changeInput(action, given.input ?? changeIn(given.text) ?? {});
  // A change that changes nothing approves the plan that was shown.
  if (canonicalJson(input) === canonicalJson(action.input)) return { ...answered, answer: options[0] ?? "yes" };
  await requirePossible({ ...action, input }, state, deps);
  return { ...answered, input };
}

function staysOpen({ code, message }: FaultReport): Fault {
  return new Fault(code, `${message} The question stays open.`);
}

/** Throws unless the hand could carry out the changed action after a yes. */
async function requirePossible(
  action: Action,
  { tools }: RunState,
  { hand, redactor }: Pick<RunDependencies, "hand" | "redactor">,
): Promise<void> {
  if (canonicalJson(redactor.value(action.input)) !== canonicalJson(action.input))
    throw staysOpen({
      code: "BAD_ARGUMENTS",
      message: "The change has a secret in it, and secrets are not journaled.",
    });
  const judged = await hand.judge(handAction(action, tools));
  if ("code" in judged) throw staysOpen(judged);
  const { decision, reason, rule } = judged.verdict;
  if (decision === "deny") throw staysOpen({ code: "POLICY_DENIED", message: `${reason} (rule ${rule}).` });
}
