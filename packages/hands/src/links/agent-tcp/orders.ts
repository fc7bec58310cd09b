import { ACTION_SCHEMA, JUDGE_SCHEMA, RUN_TOOL_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { Ended, JsonObject } from "@vidro/core";
import { sleepWatch } from "../sleep-detector.ts";
import { command } from "./command.ts";
import type { Session } from "./command.ts";

/* What a brain asks of a hand, beyond the protocol. The action's id is its own, and the hand's ledger knows it. */

const SCOPE = "hand";
const sleep = sleepWatch();

/** Freezes and judges an action: the judgement, or the fault that it would meet. */
export const judge = command({
  act: "JUDGE",
  scope: SCOPE,
  schema: JUDGE_SCHEMA,
  extension: true,
  async run({ actionId, tool, input, callId }, { world }) {
    const judgement = await world.hand.judge({
      id: actionId,
      tool,
      input: input as JsonObject,
      callId: callId ?? actionId,
    });
    return "code" in judgement ? { fault: { ...judgement } } : { judgement: plain(judgement) };
  },
});

/** Carries out an order; it goes on when the connection is cut, and the same order finds it again. */
export const runTool = command({
  act: "RUN_TOOL",
  scope: SCOPE,
  schema: RUN_TOOL_SCHEMA,
  extension: true,
  async run({ actionId, tool, input, callId, live, approved, ledger, ...rest }, call) {
    const { world, session, orders } = call;
    const action = { id: actionId, tool, input: input as JsonObject, callId: callId ?? actionId };
    const order = sleep.heard({
      ...rest,
      action,
      by: bearerOf(session),
      ...(approved === undefined ? {} : { approved }),
      ...(ledger === undefined ? {} : { ledger }),
    });
    const own = `${order.by}/${actionId}`;
    const stop = orders.get(own) ?? new AbortController();
    orders.set(own, stop);
    const signal = session === undefined ? stop.signal : AbortSignal.any([stop.signal, session.revoked]);
    let ended: Ended | undefined;
    try {
      for await (const event of world.hand.perform(order, signal)) {
        if (event.type !== "output") ended = event;
        else if (live === true) call.tell({ actionId, stream: event.stream, chunk: event.chunk });
      }
    } finally {
      orders.delete(own);
    }
    if (ended === undefined) throw new Error("The hand gave no end.");
    return { ended: plain(ended) };
  },
});

/** Ends an action that this connection ordered; how it ended is the answer to the order. */
export const cancel = command({
  act: "CANCEL",
  scope: SCOPE,
  schema: ACTION_SCHEMA,
  extension: true,
  run({ actionId }, { orders, session }) {
    const order = orders.get(`${bearerOf(session)}/${actionId}`);
    order?.abort();
    return { cancelled: order !== undefined };
  },
});

/** The brain has the outcome on disk. */
export const ack = command({
  act: "ACK",
  scope: SCOPE,
  schema: ACTION_SCHEMA,
  extension: true,
  async run({ actionId }, { world, session }) {
    await world.hand.acknowledge(actionId, bearerOf(session));
    return { acknowledged: true };
  },
});

/** Whose orders these are: outcomes and epochs belong to the token that ordered, whoever else has the scope. */
function bearerOf(session: Session | undefined): string {
  return session?.tokenId ?? "";
}

/** The types of the vocabulary are JSON by what they hold, which the type checker cannot see of an interface. */
function plain(value: object): JsonObject {
  return value as JsonObject;
}
