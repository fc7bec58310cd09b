import { grants } from "../auth/scopes.ts";
import type { Caller } from "../auth/caller.ts";

/** The scope that lets a token approve what policy leaves to a person. */
const APPROVE = "approve";

/** The administrator's setting for approvals. */
export interface ApprovalRights {
  /** Whether a token that may start runs may also approve their effects. */
  readonly ownersApprove?: boolean;
}

/** Whether a caller may approve effects of the runs that it may answer. */
export function mayApprove({ scopes, admin }: Caller, { ownersApprove = false }: ApprovalRights): boolean {
  return admin || ownersApprove || grants(scopes, APPROVE);
}

/** What a caller may answer to the questions of the runs that it may answer. */
export interface AnswerRights {
  readonly mayApprove: boolean;
  /** Whether the caller may add rules to the policy of the brain's host, which hold for the runs of every owner. */
  readonly mayAllowAlways: boolean;
}

/** The rights of a caller where it answers a question. */
export function answerRights(caller: Caller, rights: ApprovalRights): AnswerRights {
  return { mayApprove: mayApprove(caller, rights), mayAllowAlways: caller.admin };
}

/** The owner whose runs a caller sees, answers and aborts; undefined (all owners) for an administrator. */
export function visibleOwner({ owner, admin }: Caller): string | undefined {
  return admin ? undefined : owner;
}
