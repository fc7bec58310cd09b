import type { Judgement, Plan, Verdict } from "@vidro/core";
import type { Rule } from "@vidro/core/policy";
import type { PolicyAdditions } from "../hand-options.ts";
import { canConfine, type HandContext } from "../tools/tool.ts";
import { judgeOwnState } from "./own-state.ts";

type Judge = (plan: Plan) => Verdict;
type JudgedPlan = Pick<Judgement, "plan" | "verdict">;

/** The facts of a plan that ends a process in the background which ends with its run. */
export const ENDING = "end a process of this run";

/** No policy keeps a run from ending what it has started: else its end would leave processes behind. */
const ENDING_VERDICT: Verdict = {
  decision: "allow",
  rule: "own-process",
  class: "read",
  reason: "a run may end what it has started",
};

/** The verdict on a plan, by the hand's policy unless another is given, with what no policy may say of Vidro's own state. */
export async function decideOnPlan(
  planned: Plan,
  context: HandContext,
  judge: Judge = context.judge,
): Promise<JudgedPlan> {
  if (planned.kind === "facts" && planned.facts === ENDING) return { plan: planned, verdict: ENDING_VERDICT };
  const { plan, verdict } = await chooseConfinement(planned, context, judge);
  const { workspace, reserved } = context;
  return { plan, verdict: judgeOwnState(plan, { workspace, folders: reserved() }) ?? verdict };
}

/** The narrowest rule that would allow a plan which is asked about; undefined when there is none. */
export async function ruleForPlan(
  { plan, verdict }: JudgedPlan,
  additions: PolicyAdditions | undefined,
  context: HandContext,
): Promise<Rule | undefined> {
  const rule = verdict.decision === "ask" ? additions?.ruleFor(plan) : undefined;
  if (additions === undefined || rule === undefined) return undefined;
  const trial = await decideOnPlan(plan, context, (one) => additions.judgeWith(rule, one));
  return trial.verdict.decision === "allow" ? rule : undefined;
}

/** A program that policy allows only when confined runs confined, where this host has a sandbox for it. */
async function chooseConfinement(plan: Plan, context: HandContext, judge: Judge): Promise<JudgedPlan> {
  if (plan.kind !== "process") return { plan, verdict: judge(plan) };
  const held = judge({ ...plan, confined: "files" });
  const { decision, confined } = held;
  const isHeld = decision === "allow" && confined !== undefined && (await canConfine(context, confined, plan.cwd));
  const { state: _, ...bare } = plan;
  return isHeld ? { plan: { ...bare, confined }, verdict: held } : { plan, verdict: judge(plan) };
}
