import type { Action, ActionOutput, ActionEnd, Hand, Order } from "@vidro/core";
import type { Redactor, TextStream } from "@vidro/core/redact";
import type { Phase, RunState } from "@vidro/core/run";

/* How the engine gives an order to a hand and reads its end. */

/** End of an action whose run was aborted before it was ordered. */
export const NOT_ORDERED: ActionEnd = {
  type: "failed",
  fault: { code: "ACTION_EXPIRED", message: "The run was aborted before this was ordered; nothing was done." },
  settled: true,
};

/** End of an action whose hand was published to stop it and did not confirm that in time. */
export const NOT_STOPPED: ActionEnd = {
  type: "unknown",
  fault: {
    code: "OUTCOME_UNKNOWN",
    message: "The run was aborted while this was under way; the hand is published to stop it.",
  },
};

/** The action with an unknown outcome that a person is asked about, if there is one. */
export function unknownAction({ phase }: RunState): Action | undefined {
  return phase.name === "asking" && phase.question.about.kind === "unknown" ? phase.action : undefined;
}

/** Phase of a run; the interrupted phase while a question interrupts it. */
export function interruptedPhase({ phase }: RunState): Phase {
  return phase.name === "asking" ? (phase.interrupted ?? phase) : phase;
}

/** Receives the output of an order. */
interface OutputSink {
  readonly redactor: Redactor;
  readonly publish: (output: ActionOutput) => void;
  /** Whether the beginning of the output may have been published before. */
  readonly isRepeated: boolean;
}

/** Gives an order to a hand and publishes its output with secrets redacted; resolves with its end. */
export async function performOrder(
  hand: Hand,
  order: Order,
  { redactor, publish, isRepeated, signal }: OutputSink & { readonly signal: AbortSignal },
): Promise<ActionEnd> {
  const streams = new Map<"stdout" | "stderr", TextStream>();
  const published = { stdout: 0, stderr: 0 };
  const publishChunk = (stream: "stdout" | "stderr", chunk: string): void => {
    const place = isRepeated ? {} : { from: published[stream] };
    publish({ type: "action.output", action: order.action.id, stream, chunk, ...place });
    published[stream] += chunk.length;
  };
  for await (const event of hand.perform(order, signal)) {
    if (event.type === "output") {
      const redacted = streams.get(event.stream) ?? redactor.stream();
      streams.set(event.stream, redacted);
      publishChunk(event.stream, redacted.push(event.chunk));
      continue;
    }
    for (const [stream, redacted] of streams) publishChunk(stream, redacted.end());
    return event;
  }
  throw new Error(`The hand ${hand.id} ended its stream without a terminal event.`);
}

/** Ends the processes in the background that end with a run; a hand that is away does so when it is back. */
export async function endProcesses(hand: Hand, orders: readonly Order[]): Promise<void> {
  const { signal } = new AbortController();
  const endOne = async (order: Order): Promise<void> => {
    for await (const event of hand.perform({ ...order, isEnding: true }, signal))
      if (event.type === "finished") await hand.acknowledge(order.action.id);
  };
  // A hand without the tool has started nothing that could be ended by it.
  await Promise.all(orders.map((order) => endOne(order).catch(() => undefined)));
}

/** Waits for the one effect that is under way; the wait may be given up. */
export class EffectWaits {
  #giveUp: (() => void) | undefined;
  #isOver = false;

  /** Resolves with the effect's value; with `other` when the waits are over before the effect is. */
  inTime<Given, Other>(effect: Promise<Given>, other: Other): Promise<Given | Other> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(other);
      effect.then(resolve, reject);
      if (this.#isOver) resolve(other);
    });
  }

  /** Ends the wait, and those that come. */
  end(): void {
    this.#isOver = true;
    this.#giveUp?.();
  }
}
