import type { Action, ActionEnd, FaultReport, Judgement, Order } from "@vidro/core";

/** Gets the live output of an action. */
export type Hear = (stream: "stdout" | "stderr", chunk: string) => void;

/**
 * One live connection to a hand, in the words of its wire. Rejections are Faults: HAND_UNAVAILABLE as soon as the
 * connection is gone, so that whoever waits orders again, under the same id, when the hand is back.
 */
export interface HandLink {
  /** Asks what the hand would do and whether its policy lets it. */
  judge(action: Action): Promise<Judgement | FaultReport>;
  /** Gives an order; when the signal is aborted the hand is told to stop, and how it ended is still awaited. */
  perform(order: Order, hear: Hear, signal: AbortSignal): Promise<ActionEnd>;
  /** The outcome has arrived and is durable; nothing is awaited. */
  acknowledge(action: string): void;
  /** Says why, and hangs up. */
  close(why: FaultReport): void;
}
