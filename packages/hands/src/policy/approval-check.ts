import { Fault } from "@vidro/core";
import type { ActionEnd, Judgement, Order } from "@vidro/core";

/** Throws unless policy lets the plan run: by itself, or because a person approved exactly this plan. */
export function requireApproval({ hash, verdict }: Judgement, { approved, unproven }: Order): void {
  if (verdict.decision === "allow") return;
  if (verdict.decision === "deny") throw new Fault("POLICY_DENIED", `${verdict.reason} (rule ${verdict.rule})`);
  if (approved === undefined) throw new Fault("APPROVAL_DENIED", `Nobody has approved it. ${verdict.reason}`);
  if (unproven !== undefined) throw new Fault(unproven.code, unproven.message);
  if (approved !== hash) throw new Fault("PLAN_CHANGED");
}

/** The end of an order that a fault stopped. */
export function failedEnd(fault: Fault): Extract<ActionEnd, { type: "failed" }> {
  return { type: "failed", fault: fault.report() };
}

/** An end as the ledger has it: those of earlier versions do not say that they are from there. */
export function recordedEnd(ended: ActionEnd): ActionEnd {
  return ended.type === "failed" ? { ...ended, settled: true } : ended;
}

/**
 * The end of an action that was begun for another, or before the hand kept for whom: what came of it is not told, and
 * it is not begun again, since whoever orders may be the same with another token.
 */
export function otherOrdererEnd(): ActionEnd {
  const message = "An action of that id was begun for another who orders here; what came of it is told to that one.";
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", message).report() };
}

/** The fault of an id that came with another tool or input than before. */
export function reusedIdFault(id: string): Fault {
  return new Fault("ACTION_ID_REUSED", `The action id ${id} belongs to an action with another tool or input.`);
}

/** The fault of an action that another process of the hand is at. */
export function busyFault(id: string): Fault {
  return new Fault("HAND_UNAVAILABLE", `Another process of this hand has action ${id} in hand; order it again later.`);
}
