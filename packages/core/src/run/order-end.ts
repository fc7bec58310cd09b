import type { ActionFailed, ActionFinished, ActionUnknown } from "../event.ts";
import { HAND_LIMITS, REGISTER_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { Action, ActionEnd, ToolSpec } from "../tool.ts";

/* Turns the end of an order into the outcome of its action, which may have been ordered more than once. */

/** The event that records the outcome of an action. */
export type OutcomeEvent = ActionFinished | ActionFailed | ActionUnknown;

/** The order whose end is read. */
export interface OrderFacts {
  readonly action: Action;
  readonly tools: readonly ToolSpec[];
  /** Whether an earlier order of the same action may have reached the hand. */
  readonly hasEarlierOrder: boolean;
}

/**
 * The outcome of an action by the end of one of its orders. A failure says only that this order did nothing. When an
 * earlier order may have reached the hand, the failure counts only if it is settled, or if an idempotent tool ran now
 * and failed. After an INTERNAL_ERROR nothing is known of what was done.
 */
export function outcomeOf(ended: ActionEnd, { action, tools, hasEarlierOrder: before }: OrderFacts): OutcomeEvent {
  const { id } = action;
  const receipt = ended.receipt === undefined ? {} : { receipt: ended.receipt };
  if (ended.type === "finished") {
    const used = ended.used === undefined ? {} : { used: ended.used };
    return { type: "action.finished", action: id, outcome: ended.outcome, ...receipt, ...used };
  }
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

/** Whether an end is the end of the action, also of its earlier orders. */
export function isSettled(ended: ActionEnd): boolean {
  return ended.type === "finished" || (ended.type === "failed" && ended.settled === true);
}

/** Whether an action may be repeated without a further effect; false for unknown tools. */
export function isIdempotent({ tool }: Pick<Action, "tool">, tools: readonly ToolSpec[]): boolean {
  return tools.some(({ name, idempotent }) => name === tool && idempotent);
}

/** Timeout of an action: its input's `timeout_ms`, else the default of a command. */
export function timeoutOf({ input }: Pick<Action, "input">): number {
  const { timeout_ms: asked } = input;
  return typeof asked === "number" ? asked : HAND_LIMITS.commandMs;
}

/** How long to wait for the end of an order while the connection is up. */
export function deadlineMs(action: Pick<Action, "input">, overdueMs: number = REGISTER_LIMITS.overdueMs): number {
  return Math.min(Math.max(0, timeoutOf(action)), HAND_LIMITS.commandCapMs) + overdueMs;
}

/** The recall of an order: it starts nothing and asks for the recorded outcome. */
export function recallOf(order: Order): Order {
  return { ...order, ttlMs: 0 };
}

/** Whether an order is a recall. */
export function isRecall({ ttlMs }: Pick<Order, "ttlMs">): boolean {
  return ttlMs === 0;
}
