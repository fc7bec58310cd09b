import type { Action, ActionEnd, FaultReport, Judgement, Order, SpoolPart, Surroundings } from "@vidro/core";

/** Gets the live output of an action. */
export type OutputSink = (stream: "stdout" | "stderr", chunk: string) => void;

/**
 * One live connection to a hand, in the words of its wire. Rejections are Faults: HAND_UNAVAILABLE as soon as the
 * connection is gone; the engine then orders again, under the same id, when the hand is back.
 */
export interface HandLink {
  /** The connection is that of another brain, which passes on what is said. */
  readonly isRelayed?: true;
  /** Asks the hand for its plan of an action and the verdict of its policy. */
  judge(action: Action): Promise<Judgement | FaultReport>;
  /** What the hand tells of its host and workspace, as data; absent where the wire has no words for it. */
  surroundings?(): Promise<Surroundings>;
  /** The spooled output of an action from a byte on; absent where the wire has no words for it. */
  readSpool?(action: string, from: number): Promise<SpoolPart | FaultReport>;
  /** Orders an action and resolves with its end. Aborting the signal tells the hand to stop; its end is still awaited. */
  perform(order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd>;
  /** Tells the hand that the outcome of an action is durable; awaits nothing. */
  acknowledge(action: string): void;
  /** Sends a fault and closes the connection. */
  close(why: FaultReport): void;
}
