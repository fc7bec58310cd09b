import { ACTION_SCHEMA, JUDGE_SCHEMA, RUN_TOOL_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import { CODEC_LIMITS, Fault } from "@vidro/core";
import { withoutEndFiles } from "@vidro/core/wire/action-end";
import type { ActionEnd, JsonObject, Order } from "@vidro/core";
import { checkApproval } from "../../enrol/brain-key.ts";
import { sleepDetector } from "../sleep-detector.ts";
import { defineCommand } from "./command.ts";
import type { CommandCall, TcpSession } from "./command.ts";

/* Extensions of the protocol with which a brain orders actions under its own ids, recorded in the hand's ledger. */

const SCOPE = "hand";
const APPROVE = "approve";
const UNAPPROVED =
  "The token of this order lacks the scope approve. Add the scope, or start the hand with the brain's certificate: --brain";
const sleep = sleepDetector();

/** Plans and judges an action; returns the judgement or the fault. */
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

/** Carries out an order. The action continues when the connection ends, and a repeated order waits for the same end. */
export const runToolCommand = defineCommand({
  act: "RUN_TOOL",
  scope: SCOPE,
  schema: RUN_TOOL_SCHEMA,
  isExtension: true,
  async run({ actionId, tool, input, callId, live, approved, ledger, warrant, traceparent, ...rest }, call) {
    const { context, session, orders } = call;
    const action = { id: actionId, tool, input: input as JsonObject, callId: callId ?? actionId };
    const read = sleep.subtractSleep({
      ...rest,
      action,
      by: bearerOf(session),
      ...(approved === undefined ? {} : { approved }),
      ...(ledger === undefined ? {} : { ledger }),
      ...(warrant === undefined ? {} : { warrant }),
      ...(traceparent === undefined ? {} : { traceparent }),
    });
    const order = checkOrderApproval(read, call);
    const own = `${order.by}/${actionId}`;
    const pending = orders.get(own) ?? { stop: new AbortController(), waiting: 0 };
    const { stop } = pending;
    pending.waiting += 1;
    orders.set(own, pending);
    const signal = session === undefined ? stop.signal : AbortSignal.any([stop.signal, session.revoked]);
    let ended: ActionEnd | undefined;
    try {
      for await (const event of context.hand.perform(order, signal)) {
        if (event.type !== "output") ended = event;
        else if (live === true) call.sendOutput({ actionId, stream: event.stream, chunk: event.chunk });
      }
    } finally {
      // A repeated order may be refused at once while the first one goes on.
      pending.waiting -= 1;
      if (pending.waiting === 0) orders.delete(own);
    }
    if (ended === undefined) throw new Error("The hand gave no end.");
    return { ended: plain(isOverFrame(ended) ? withoutEndFiles(ended) : ended) };
  },
});

/** Room in a frame for what stands around an end. */
const AROUND_BYTES = 4096;

function isOverFrame(ended: ActionEnd): boolean {
  return Buffer.byteLength(JSON.stringify(ended)) > CODEC_LIMITS.frameBytes - AROUND_BYTES;
}

/** Aborts an action that this connection ordered; its end is the answer to the order. */
export const cancelCommand = defineCommand({
  act: "CANCEL",
  scope: SCOPE,
  schema: ACTION_SCHEMA,
  isExtension: true,
  run({ actionId }, { orders, session }) {
    const order = orders.get(`${bearerOf(session)}/${actionId}`);
    order?.stop.abort();
    return { cancelled: order !== undefined };
  },
});

/** Acknowledges an outcome that the brain has on disk. */
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

/** Checks an approval: the pinned brain must have signed it; without a pinned brain, the token needs the scope. */
function checkOrderApproval(order: Order, { context, session }: CommandCall): Order {
  if (context.brain !== undefined) return checkApproval(order, context.brain, Date.now());
  const mayApprove = session?.scopes.has(APPROVE) === true || session?.scopes.has("*") === true;
  if (order.approved === undefined || mayApprove) return order;
  return { ...order, unproven: new Fault("APPROVAL_INVALID", UNAPPROVED).report() };
}

/** The orderer: outcomes and epochs belong to the token that ordered. */
function bearerOf(session: TcpSession | undefined): string {
  return session?.tokenId ?? "";
}

/** Casts a value of core's vocabulary, which is JSON; the type checker cannot see that of an interface. */
function plain(value: object): JsonObject {
  return value as JsonObject;
}
