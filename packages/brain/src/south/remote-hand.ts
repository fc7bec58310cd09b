import { asFault, Fault, HANDS, LiveQueue } from "@vidro/core";
import type { Action, Ended, FaultReport, Hand, HandEvent, Judgement, Order, ToolSpec } from "@vidro/core";
import type { HandCard, HandLink } from "./link.ts";

/** Why a hand that may be there gets no work. */
export type Barred = "revoked" | "quarantined";

/**
 * A hand on another machine, whether or not it is connected now. It keeps no order: who ordered orders again under
 * the same id, and the hand's ledger answers.
 */
export class RemoteHand implements Hand {
  #card: HandCard;
  #link: HandLink | undefined;
  #barred: Barred | undefined;
  /** Outcomes that are durable here and of which the hand does not know it yet. */
  readonly #unacknowledged = new Set<string>();
  /** Those who wait for it to be back. */
  readonly #wakes = new Set<() => void>();

  constructor(card: HandCard) {
    this.#card = card;
  }

  get id(): string {
    return this.#card.id;
  }

  get workspace(): string {
    return this.#card.workspace;
  }

  get tools(): readonly ToolSpec[] {
    return this.#card.tools;
  }

  /** What is known of it. */
  get card(): HandCard {
    return this.#card;
  }

  /** The connection, while there is one. */
  get link(): HandLink | undefined {
    return this.#link;
  }

  /** Why it gets no work, if so. */
  get barred(): Barred | undefined {
    return this.#barred;
  }

  /** Bars it, or lets it work again; what runs is not touched. */
  bar(barred: Barred | undefined): void {
    this.#barred = barred;
  }

  /** Works through a new connection from now on, and tells it what was missed. */
  attach(card: HandCard, link: HandLink): void {
    this.#card = card;
    this.#link = link;
    for (const action of this.#unacknowledged) link.acknowledge(action);
    this.#unacknowledged.clear();
    // Who was just told that the old connection is gone has yet to begin to wait.
    setImmediate(() => {
      for (const wake of this.#wakes) wake();
    });
  }

  /** Forgets a connection, unless a newer one has taken its place; says whether it was the one in use. */
  detach(link: HandLink): boolean {
    if (this.#link !== link) return false;
    this.#link = undefined;
    return true;
  }

  watch(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    try {
      return await this.#reached().judge(action);
    } catch (thrown) {
      return asFault(thrown).report();
    }
  }

  async *perform(order: Order, signal: AbortSignal): AsyncIterable<HandEvent> {
    const live = new LiveQueue();
    const ended = this.#ordered(order, live, signal).catch((thrown: unknown): Ended => ({
      type: "failed",
      fault: asFault(thrown).report(),
    }));
    void ended.then(() => live.end());
    yield* live;
    yield await ended;
  }

  async acknowledge(action: string): Promise<void> {
    if (this.#link !== undefined) return this.#link.acknowledge(action);
    if (this.#unacknowledged.size < HANDS.acknowledgements) this.#unacknowledged.add(action);
  }

  async close(): Promise<void> {
    this.#link?.close(new Fault("SHUTTING_DOWN").report());
    this.#link = undefined;
  }

  async #ordered(order: Order, live: LiveQueue, signal: AbortSignal): Promise<Ended> {
    const link = this.#reached();
    const hear = (stream: "stdout" | "stderr", chunk: string): void => live.put({ type: "output", stream, chunk });
    const { promise: left, reject: leave } = Promise.withResolvers<never>();
    const stop = new AbortController();
    // A brain that goes down leaves work on other machines alone: the next one finds it under the same id.
    const onAbort = (): void => {
      if (asFault(signal.reason).code !== "SHUTTING_DOWN") return stop.abort(signal.reason);
      leave(new Fault("HAND_UNAVAILABLE", "The brain left while the action ran."));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const performed = link.perform(order, hear, stop.signal);
    // Whoever waits has left; how it ended is in the hand's ledger.
    performed.catch(() => undefined);
    return Promise.race([left, performed]).finally(() => signal.removeEventListener("abort", onAbort));
  }

  #reached(): HandLink {
    if (this.#barred === "revoked") throw new Fault("HAND_REVOKED", `The hand ${this.#card.name} was revoked.`);
    if (this.#barred === "quarantined")
      throw new Fault("HAND_QUARANTINED", `The hand ${this.#card.name} is in quarantine and gets no new work.`);
    if (this.#link === undefined) throw new Fault("HAND_UNAVAILABLE", `The hand ${this.#card.name} is not connected.`);
    return this.#link;
  }
}
