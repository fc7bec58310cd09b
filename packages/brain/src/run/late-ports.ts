import { asFault, Fault } from "@vidro/core";
import type { Action, FaultReport, Hand, HandEvent, Model, RunStarted } from "@vidro/core";

/** Adds the rule that allows an action always to the hand's policy; POLICY_DENIED when that policy is the host's own. */
export async function allowAlways(hand: Hand, action: Action, approved: string): Promise<string | FaultReport> {
  return (await hand.allowAlways?.(action, approved)) ?? hostPolicyFault(hand.id);
}

/** The fault for a rule that was to be added to the policy of another host. */
export function hostPolicyFault(hand: string): FaultReport {
  const message = `The policy of ${hand} cannot be added to from here: it is the host's own, or no rule is about this plan alone. On that host: vidro policy add.`;
  return { code: "POLICY_DENIED", message };
}

/* Stand-ins for a model or a hand that cannot be opened now. */

/** A model that only fails, for a run that is taken over to be aborted. */
export const NO_MODEL: Model = {
  name: "none",
  async *call() {
    yield { type: "failed", fault: new Fault("MODEL_UNAVAILABLE").report() };
  },
};

/**
 * Stands in for a hand that could not be opened when its run was resumed: each use tries to open it again and fails
 * with HAND_UNAVAILABLE until that works. So the run waits as it does for any hand that is away, within the same
 * bounds.
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
    async allowAlways(action, approved) {
      const hand = await reach().catch(away);
      return "code" in hand ? hand : allowAlways(hand, action, approved);
    },
    async acknowledge(action) {
      await opened?.acknowledge(action);
    },
    watch: (wake) => opened?.watch?.(wake) ?? (() => undefined),
    // The hand is closed by its owner, not by a run.
    close: async () => undefined,
  };
}
