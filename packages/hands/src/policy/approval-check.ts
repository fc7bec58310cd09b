import { Fault } from "@vidro/core";
import type { ActionEnd, JsonObject, Judgement, Order, Plan } from "@vidro/core";

/** Throws unless policy allows the plan or a person approved exactly this plan. */
export function requireApproval({ hash, verdict }: Judgement, { approved, unproven }: Order): void {
  if (verdict.decision === "allow") return;
  if (verdict.decision === "deny") throw new Fault("POLICY_DENIED", `${verdict.reason} (rule ${verdict.rule})`);
  if (approved === undefined) throw new Fault("APPROVAL_DENIED", `No person has approved it. ${verdict.reason}`);
  if (unproven !== undefined) throw new Fault(unproven.code, unproven.message);
  if (approved !== hash) throw new Fault("PLAN_CHANGED");
}

/** The end of an order that failed with a fault. */
export function failedEnd(fault: Fault): Extract<ActionEnd, { type: "failed" }> {
  return { type: "failed", fault: fault.report() };
}

/** Marks an end from the ledger as settled; earlier versions recorded failures without that mark. */
export function recordedEnd(ended: ActionEnd): ActionEnd {
  return ended.type === "failed" ? { ...ended, settled: true } : ended;
}

/**
 * The end reported for an action that was begun for another orderer, or before orderers were recorded. Its outcome is
 * not given out, and it does not run again, because the orderer may be the same one with another token.
 */
export function otherOrdererEnd(): ActionEnd {
  const message = "An action with this id was started by another client, and only that client gets its outcome.";
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", message).report() };
}

/** The fault for an id that was used before with another tool or input. */
export function reusedIdFault(id: string): Fault {
  return new Fault("ACTION_ID_REUSED", `The action id ${id} belongs to an action with another tool or input.`);
}

/** The fault for an action that another process of this hand is running. */
export function busyFault(id: string): Fault {
  return new Fault("HAND_UNAVAILABLE", `Another process of this hand is running action ${id}; order it again later.`);
}

/** The part of a plan that its hash is of: a diff for a person follows from the digests beside it. */
export function pinnedPlan(plan: Plan): JsonObject {
  const { patch: _, ...pinned } = plan.kind === "files" ? plan : { ...plan, patch: undefined };
  return pinned;
}
