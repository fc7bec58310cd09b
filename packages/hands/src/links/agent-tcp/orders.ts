import { ACTION_SCHEMA, JUDGE_SCHEMA, RUN_TOOL_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import { Fault } from "@vidro/core";
import type { ActionEnd, JsonObject, Order } from "@vidro/core";
import { checkApproval } from "../../enrol/brain-key.ts";
import { sleepDetector } from "../sleep-detector.ts";
import { defineCommand } from "./command.ts";
import type { CommandCall, TcpSession } from "./command.ts";

/* What a brain asks of a hand, beyond the protocol. The action's id is its own, and the hand's ledger knows it. */

const SCOPE = "hand";
const APPROVE = "approve";
const UNAPPROVED =
  "The token that ordered may not approve. Give it the scope approve, or let the hand know the brain's key: --brain";
const sleep = sleepDetector();

/** Freezes and judges an action: the judgement, or the fault that it would meet. */
export const judgeCommand = defineCommand({
  act: "JUDGE",
  scope: SCOPE,
  schema: JUDGE_SCHEMA,
  isExtension: true,
  async run({ actionId, tool, input, callId }, { context }) {
    const judgement = await context.hand.judge({
      id: actionId,
      tool,
      input: input as JsonObject,
      callId: callId ?? actionId,
    });
    return "code" in judgement ? { fault: { ...judgement } } : { judgement: plain(judgement) };
  },
});

/** Carries out an order; it goes on when the connection is cut, and the same order finds it again. */
export const runToolCommand = defineCommand({
  act: "RUN_TOOL",
  scope: SCOPE,
  schema: RUN_TOOL_SCHEMA,
  isExtension: true,
  async run({ actionId, tool, input, callId, live, approved, ledger, warrant, ...rest }, call) {
    const { context, session, orders } = call;
    const action = { id: actionId, tool, input: input as JsonObject, callId: callId ?? actionId };
    const read = sleep.subtractSleep({
      ...rest,
      action,
      by: bearerOf(session),
      ...(approved === undefined ? {} : { approved }),
      ...(ledger === undefined ? {} : { ledger }),
      ...(warrant === undefined ? {} : { warrant }),
    });
    const order = checkOrderApproval(read, call);
    const own = `${order.by}/${actionId}`;
    const stop = orders.get(own) ?? new AbortController();
    orders.set(own, stop);
    const signal = session === undefined ? stop.signal : AbortSignal.any([stop.signal, session.revoked]);
    let ended: ActionEnd | undefined;
    try {
      for await (const event of context.hand.perform(order, signal)) {
        if (event.type !== "output") ended = event;
        else if (live === true) call.sendOutput({ actionId, stream: event.stream, chunk: event.chunk });
      }
    } finally {
      orders.delete(own);
    }
    if (ended === undefined) throw new Error("The hand gave no end.");
    return { ended: plain(ended) };
  },
});

/** Ends an action that this connection ordered; how it ended is the answer to the order. */
export const cancelCommand = defineCommand({
  act: "CANCEL",
  scope: SCOPE,
  schema: ACTION_SCHEMA,
  isExtension: true,
  run({ actionId }, { orders, session }) {
    const order = orders.get(`${bearerOf(session)}/${actionId}`);
    order?.abort();
    return { cancelled: order !== undefined };
  },
});

/** The brain has the outcome on disk. */
export const ackCommand = defineCommand({
  act: "ACK",
  scope: SCOPE,
  schema: ACTION_SCHEMA,
  isExtension: true,
  async run({ actionId }, { context, session }) {
    await context.hand.acknowledge(actionId, bearerOf(session));
    return { acknowledged: true };
  },
});

/** An approval counts when the pinned brain signed it; where none is pinned, when the token may approve by itself. */
function checkOrderApproval(order: Order, { context, session }: CommandCall): Order {
  if (context.brain !== undefined) return checkApproval(order, context.brain, Date.now());
  const mayApprove = session?.scopes.has(APPROVE) === true || session?.scopes.has("*") === true;
  if (order.approved === undefined || mayApprove) return order;
  return { ...order, unproven: new Fault("APPROVAL_INVALID", UNAPPROVED).report() };
}

/** Whose orders these are: outcomes and epochs belong to the token that ordered, whoever else has the scope. */
function bearerOf(session: TcpSession | undefined): string {
  return session?.tokenId ?? "";
}

/** The types of the vocabulary are JSON by what they hold, which the type checker cannot see of an interface. */
function plain(value: object): JsonObject {
  return value as JsonObject;
}
