import type { Action, Ended, FaultReport, Judgement, Order, ToolSpec } from "@vidro/core";

/** The ways by which hands are reached. */
export type GatewayName = "local" | "executor-ws" | "agent-ws" | "agent-http" | "agent-tcp";

/** What is known of a hand: what it said of itself, as far as its gateway believes it. */
export interface HandCard {
  /** Never changes, whatever the hand is called. */
  readonly id: string;
  /** Whose runs may use it; an administrator's may use any. */
  readonly owner: string;
  readonly name: string;
  readonly gateway: GatewayName;
  /** Version of the program that is the hand. */
  readonly version: string;
  readonly workspace: string;
  readonly tools: readonly ToolSpec[];
  readonly tags: readonly string[];
}

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
  perform(order: Order, hear: Hear, signal: AbortSignal): Promise<Ended>;
  /** The outcome has arrived and is durable; nothing is awaited. */
  acknowledge(action: string): void;
  /** Says why, and hangs up. */
  close(why: FaultReport): void;
}
