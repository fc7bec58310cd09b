import type { QuestionAsked } from "../event.ts";
import { RUN_WIDE_YES } from "../text/answer-words.ts";
import type { Action, Plan } from "../tool.ts";

/* Plans that a person approved for the rest of a run: the same plan again is not asked about again in it. */

/** Ids of the questions whose answers approved a plan for the rest of the run, by the key of the plan. */
export type RunApprovals = { readonly [planKey: string]: string };

/** A plan that policy wants a person to approve. */
interface AskedPlan {
  readonly plan: Plan;
  readonly hash: string;
  readonly hand: string;
}

/** The approvals of a run after the answer to one of its questions. */
export function withAnswer(approvals: RunApprovals, { about, id }: QuestionAsked, answer: string): RunApprovals {
  if (about.kind !== "approval" || about.plan === undefined || answer !== RUN_WIDE_YES) return approvals;
  return { ...approvals, [planKey({ plan: about.plan, hash: about.hash, hand: about.hand ?? "" })]: id };
}

/** The id of the question whose answer approved a plan for the rest of the run. */
export function findRunApproval(approvals: RunApprovals, asked: AskedPlan): string | undefined {
  const key = planKey(asked);
  return Object.hasOwn(approvals, key) ? approvals[key] : undefined;
}

/**
 * A command counts as the same when its frozen plan has the same hash: words, folder, access, and the files that it is
 * known to run. An edit counts as the same when it changes the same file: each edit of a file is another one.
 */
function planKey({ plan, hash, hand }: AskedPlan): string {
  return JSON.stringify(plan.kind === "file" ? [hand, plan.operation, plan.path] : [hand, hash]);
}

/** The hand of an action; a run on several hands names it in each action's input. */
export function handOf(hands: string, { input }: Action): string {
  const named = input["hand"];
  return hands.includes(",") && typeof named === "string" ? named : hands;
}
