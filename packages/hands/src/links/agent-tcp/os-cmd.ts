import { randomUUIDv7 } from "node:crypto";
import { Fault, TCP_LIMITS } from "@vidro/core";
import { OS_CMD_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { ActionEnd, Hand, JsonObject, Order, ProcessOutcome } from "@vidro/core";
import { defineCommand } from "./command.ts";
import { fitText } from "./fit-frame.ts";
import { requireAllowed } from "./policy-check.ts";

/** Bytes reserved for an answer's fields besides its texts. */
const FRAME_BYTES = 1024;

/**
 * Runs a program under the hand's policy, without a shell [002-36]. With an actionId it runs at most once and continues
 * when the connection ends; without one it is aborted then, because its outcome could not be fetched any more.
 */
export const osCmdCommand = defineCommand({
  act: "OS_CMD",
  scope: "oscmd",
  schema: OS_CMD_SCHEMA,
  async run({ cmd, args, timeoutMs, actionId }, { context, session, gone, maxBytes }) {
    const owner = session?.tokenId ?? "";
    // The id includes the token, so that no other token can read the outcome.
    const id = actionId === undefined ? `act_${randomUUIDv7()}` : `tcp_${owner}_${actionId}`;
    const input = { command: cmd, args: [...args], timeout_ms: timeoutMs };
    const action = { id, tool: "command", input, callId: id };
    const order = { action, run: `tcp_${owner}`, epoch: 1, ttlMs: TCP_LIMITS.commandCapMs };
    const revoked = session?.revoked ?? gone;
    const stop = actionId === undefined ? AbortSignal.any([gone, revoked]) : revoked;
    const ended = await endOf(context.hand, order, stop);
    // Judged again, to throw the fault that names the rule.
    if (ended.type === "failed" && ended.fault.code === "APPROVAL_DENIED")
      await requireAllowed(context.hand, "command", input);
    return answerOf(ended, maxBytes);
  },
});

/** Waits for the end of an order and ignores its live output. */
async function endOf(hand: Hand, order: Order, stop: AbortSignal): Promise<ActionEnd> {
  for await (const event of hand.perform(order, stop)) if (event.type !== "output") return event;
  throw new Error("The hand gave no end.");
}

function answerOf(ended: ActionEnd, maxBytes: number): JsonObject {
  if (ended.type === "finished" && ended.outcome.kind === "process") return outcomeOf(ended.outcome, maxBytes);
  if (ended.type === "finished") throw new Error("A command gave something that is no process.");
  throw new Fault(ended.fault.code, ended.fault.message);
}

function outcomeOf(outcome: ProcessOutcome, maxBytes: number): JsonObject {
  const { exitCode, signal, timedOut } = outcome;
  const room = (maxBytes - FRAME_BYTES) / 2;
  const stdout = fitText(outcome.stdout.text, room);
  const stderr = fitText(outcome.stderr.text, room);
  const cut = stdout !== outcome.stdout.text || stderr !== outcome.stderr.text;
  const truncated = cut || outcome.stdout.truncated || outcome.stderr.truncated;
  return { ok: exitCode === 0 && !timedOut, exitCode, signal, timedOut, truncated, stdout, stderr };
}
