import { grants } from "../auth/scopes.ts";
import type { Caller } from "../auth/caller.ts";

/** The scope that lets a token say yes to what policy leaves to a person. */
const APPROVE = "approve";

/** What the brain's administrator decided about approvals. */
export interface ApprovalRights {
  /** A token that may run tasks may approve what its own runs want to do, too. */
  readonly ownersApprove?: boolean;
}

/** Whether a caller may approve effects of the runs that it may answer. */
export function mayApprove({ scopes, admin }: Caller, { ownersApprove = false }: ApprovalRights): boolean {
  return admin || ownersApprove || grants(scopes, APPROVE);
}

/** Whose runs a caller sees, answers and stops: its own, and everybody's for an administrator. */
export function visibleOwner({ owner, admin }: Caller): string | undefined {
  return admin ? undefined : owner;
}
