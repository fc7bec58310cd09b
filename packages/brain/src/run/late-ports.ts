import { asFault, Fault } from "@vidro/core";
import type { FaultReport, Hand, HandEvent, Model, RunStarted } from "@vidro/core";

/* What a run works with whose model or hand cannot be had now. */

/** A model that says only that it is not there, for a run that is taken over to be ended. */
export const NO_MODEL: Model = {
  name: "none",
  async *call() {
    yield { type: "failed", fault: new Fault("MODEL_UNAVAILABLE").report() };
  },
};

/**
 * The hand of a run that was taken up when the hand could not be opened: each use tries again, and is
 * HAND_UNAVAILABLE until it can. So the run waits by name, with the bounds of any hand that is away.
 */
export function lateHand({ hand: id, workspace, tools }: RunStarted, open: () => Promise<Hand>): Hand {
  let opened: Hand | undefined;
  const reach = async (): Promise<Hand> => (opened ??= await open());
  const away = (thrown: unknown): FaultReport => {
    const { code, message } = asFault(thrown);
    return { code: "HAND_UNAVAILABLE", message: `The hand ${id} cannot be used (${code}): ${message}` };
  };
  return {
    id,
    workspace,
    tools,
    async judge(action) {
      const hand = await reach().catch(away);
      return "code" in hand ? hand : hand.judge(action);
    },
    async *perform(order, signal): AsyncIterable<HandEvent> {
      const hand = await reach().catch(away);
      if ("code" in hand) yield { type: "failed", fault: hand };
      else yield* hand.perform(order, signal);
    },
    async acknowledge(action) {
      await opened?.acknowledge(action);
    },
    watch: (wake) => opened?.watch?.(wake) ?? (() => undefined),
    // Who opened it closes it.
    close: async () => undefined,
  };
}
