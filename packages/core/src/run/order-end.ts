import type { ActionFailed, ActionFinished, ActionUnknown } from "../event.ts";
import { HAND_LIMITS, REGISTER_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { Action, ActionEnd, ToolSpec } from "../tool.ts";

/* What the end of an order means for the action, which may have been ordered more than once. */

/** The entry that says what came of an action. */
export type OutcomeEvent = ActionFinished | ActionFailed | ActionUnknown;

/** What is known of the order whose end is judged. */
export interface OrderFacts {
  readonly action: Action;
  readonly tools: readonly ToolSpec[];
  /** Whether an earlier order of the same action may have reached the hand. */
  readonly hasEarlierOrder: boolean;
}

/**
 * The outcome that an end gives its action. A failure says only that this order did nothing: where an earlier one may
 * have reached the hand it counts only when it is said to be the end of the action, or when an idempotent tool ran now
 * and failed. A bug says nothing at all of what was done.
 */
export function outcomeOf(ended: ActionEnd, { action, tools, hasEarlierOrder: before }: OrderFacts): OutcomeEvent {
  const { id } = action;
  const receipt = ended.receipt === undefined ? {} : { receipt: ended.receipt };
  if (ended.type === "finished") return { type: "action.finished", action: id, outcome: ended.outcome, ...receipt };
  const { fault } = ended;
  if (ended.type === "unknown") {
    const partial = ended.partial === undefined ? {} : { partial: ended.partial };
    return { type: "action.unknown", action: id, fault, ...partial, ...receipt };
  }
  const ranNow = fault.code === "TOOL_FAILED" && isIdempotent(action, tools);
  const isDoubtful = before ? !ranNow : fault.code === "INTERNAL_ERROR";
  if (isSettled(ended) || !isDoubtful) return { type: "action.failed", action: id, fault, ...receipt };
  const message = `${fault.message} It was ordered and may have been carried out.`;
  return { type: "action.unknown", action: id, fault: { code: "OUTCOME_UNKNOWN", message } };
}

/** Whether an end is that of the action, whatever was ordered before. */
export function isSettled(ended: ActionEnd): boolean {
  return ended.type === "finished" || (ended.type === "failed" && ended.settled === true);
}

/** Whether doing an action twice is the same as doing it once; not when its tool is not known. */
export function isIdempotent({ tool }: Pick<Action, "tool">, tools: readonly ToolSpec[]): boolean {
  return tools.some(({ name, idempotent }) => name === tool && idempotent);
}

/** How long an action may take; what no input bounds is bounded by the tools themselves. */
export function timeoutOf({ input }: Pick<Action, "input">): number {
  const { timeout_ms: asked } = input;
  return typeof asked === "number" ? asked : HAND_LIMITS.commandMs;
}

/** How long the end of an order is waited for on a connection that lives. */
export function deadlineMs(action: Pick<Action, "input">, overdueMs: number = REGISTER_LIMITS.overdueMs): number {
  return Math.min(Math.max(0, timeoutOf(action)), HAND_LIMITS.commandCapMs) + overdueMs;
}

/** The order that begins nothing: it asks what is known of an action that was ordered before. */
export function recallOf(order: Order): Order {
  return { ...order, ttlMs: 0 };
}

/** Whether an order begins nothing. */
export function isRecall({ ttlMs }: Pick<Order, "ttlMs">): boolean {
  return ttlMs === 0;
}
