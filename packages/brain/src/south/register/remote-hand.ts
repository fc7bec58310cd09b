import { asFault, Fault, REGISTER_LIMITS, LiveQueue } from "@vidro/core";
import { deadlineMs, isIdempotent, isSettled, recallOf } from "@vidro/core/run";
import type {
  Action,
  HandRestriction,
  ActionEnd,
  FaultReport,
  Hand,
  HandDescription,
  HandEvent,
  Judgement,
  Order,
  ToolSpec,
} from "@vidro/core";
import type { HandLink } from "../link.ts";
import { PendingStops } from "./pending-stops.ts";

/** What a hand on another machine goes by. */
interface RemoteHandOptions {
  /** What hands are to stop when they are back. */
  readonly stops?: PendingStops;
  /** Another bound than HANDS.overdueMs. */
  readonly overdueMs?: number | undefined;
}

/**
 * A hand on another machine, whether or not it is connected now. It keeps no order: who ordered orders again under
 * the same id, and the hand's ledger answers. Only what has to be stopped is kept until the hand has stopped it.
 */
export class RemoteHand implements Hand {
  #card: HandDescription;
  #link: HandLink | undefined;
  #barred: HandRestriction | undefined;
  /** Outcomes that are durable here and of which the hand does not know it yet. */
  readonly #unacknowledged = new Set<string>();
  /** Those who wait for it to be back. */
  readonly #wakes = new Set<() => void>();
  /** Ends that came when nobody waited for them any more, until they are acknowledged. */
  readonly #late = new Map<string, ActionEnd>();
  readonly #stops: PendingStops;
  readonly #overdueMs: number | undefined;

  constructor(card: HandDescription, { stops = new PendingStops(), overdueMs }: RemoteHandOptions = {}) {
    this.#card = card;
    this.#stops = stops;
    this.#overdueMs = overdueMs;
  }

  get id(): string {
    return this.#card.id;
  }

  /** The folder that it says it works in, where that is a path and no sentence: models are told of it. */
  get workspace(): string {
    return FOLDER.test(this.#card.workspace) ? this.#card.workspace : ".";
  }

  get tools(): readonly ToolSpec[] {
    return this.#card.tools;
  }

  /** What is known of it. */
  get card(): HandDescription {
    return this.#card;
  }

  /** The connection, while there is one. */
  get link(): HandLink | undefined {
    return this.#link;
  }

  /** Why it gets no work, if so. */
  get barred(): HandRestriction | undefined {
    return this.#barred;
  }

  /** Bars it, or lets it work again; what runs is not touched. */
  bar(barred: HandRestriction | undefined): void {
    this.#barred = barred;
  }

  /** Works through a new connection from now on, and tells it what was missed. */
  attach(card: HandDescription, link: HandLink): void {
    this.#card = card;
    this.#link = link;
    for (const action of this.#unacknowledged) link.acknowledge(action);
    this.#unacknowledged.clear();
    for (const order of this.#stops.of(card.id)) void this.#stop(order, link);
    // Who was just told that the old connection is gone has yet to begin to wait.
    setImmediate(() => this.wake());
  }

  /** Wakes those who wait for it: it is back, or has said how something ended. */
  wake(): void {
    for (const wake of this.#wakes) wake();
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
    const ended = this.#ordered(order, live, signal).catch((thrown: unknown): ActionEnd => ({
      type: "failed",
      fault: asFault(thrown).report(),
    }));
    void ended.then(() => live.end());
    yield* live;
    yield await ended;
  }

  async acknowledge(action: string): Promise<void> {
    this.#late.delete(action);
    if (this.#link !== undefined) return this.#link.acknowledge(action);
    if (this.#unacknowledged.size < REGISTER_LIMITS.acknowledgements) this.#unacknowledged.add(action);
  }

  async close(): Promise<void> {
    this.#link?.close(new Fault("SHUTTING_DOWN").report());
    this.#link = undefined;
  }

  async #ordered(order: Order, live: LiveQueue, signal: AbortSignal): Promise<ActionEnd> {
    const { action } = order;
    const known = this.#late.get(action.id);
    if (known !== undefined) return known;
    const link = await this.#linkFor(order, signal);
    const hear = (stream: "stdout" | "stderr", chunk: string): void => live.put({ type: "output", stream, chunk });
    const left = Promise.withResolvers<ActionEnd>();
    const stop = new AbortController();
    // A brain that goes down leaves work on other machines alone: the next one finds it under the same id.
    const onAbort = (): void => {
      if (isStopped(signal)) return stop.abort(signal.reason);
      left.reject(new Fault("HAND_UNAVAILABLE", "The brain left while the action ran."));
    };
    const overdue = setTimeout(
      () => {
        stop.abort(new Fault("ACTION_EXPIRED"));
        // A link that has not given the order yet says so before this.
        setImmediate(() => left.resolve(neverEnded(action, this.tools)));
      },
      deadlineMs(action, this.#overdueMs),
    );
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const performed = link.perform(order, hear, stop.signal);
    let isLeft = false;
    performed.then(
      (ended) => this.#ended(order, ended, isLeft),
      // How it ended is in the hand's ledger, and what is to be stopped is told when the hand is back.
      () => (stop.signal.aborted ? this.#stops.add(this.#card, order).catch(() => undefined) : undefined),
    );
    return Promise.race([left.promise, performed]).finally(() => {
      isLeft = true;
      clearTimeout(overdue);
      signal.removeEventListener("abort", onAbort);
    });
  }

  /** The hand said how an order ended; a late end is kept for who still asks. */
  #ended({ action }: Order, ended: ActionEnd, isLate: boolean): void {
    this.#stops.drop(action.id).catch(() => undefined);
    if (!isLate || !isSettled(ended)) return;
    const [oldest] = this.#late.keys();
    if (this.#late.size >= REGISTER_LIMITS.lateEnds && oldest !== undefined) this.#late.delete(oldest);
    this.#late.set(action.id, ended);
    this.wake();
  }

  /** The way to the hand; what is to be stopped is no new work, and waits for a hand that is away. */
  async #linkFor(order: Order, signal: AbortSignal): Promise<HandLink> {
    if (!isStopped(signal)) return this.#reached();
    if (this.#link !== undefined) return this.#link;
    await this.#stops.add(this.#card, order);
    return this.#reached();
  }

  /** Ends on the hand what a run began that nobody waits for any more. */
  async #stop(order: Order, link: HandLink): Promise<void> {
    try {
      this.#ended(order, await link.perform(recallOf(order), () => undefined, AbortSignal.abort()), true);
    } catch {
      // The connection is gone again: the next one is told.
    }
  }

  #reached(): HandLink {
    if (this.#barred === "revoked") throw new Fault("HAND_REVOKED", `The hand ${this.#card.name} was revoked.`);
    if (this.#barred === "quarantined")
      throw new Fault("HAND_QUARANTINED", `The hand ${this.#card.name} is in quarantine and gets no new work.`);
    if (this.#link === undefined) throw new Fault("HAND_UNAVAILABLE", `The hand ${this.#card.name} is not connected.`);
    return this.#link;
  }
}

/** A path without blanks, of a length that people read. */
const FOLDER = new RegExp(`^[\\p{L}\\p{N}._@%+=:,~/\\\\-]{1,${REGISTER_LIMITS.folderChars}}$`, "u");

/** Whether the work behind a signal is to be stopped, and not only left alone. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted && asFault(signal.reason).code !== "SHUTTING_DOWN";
}

function neverEnded(action: Action, tools: readonly ToolSpec[]): ActionEnd {
  const why = "The hand got the order and did not say in time how it ended.";
  if (isIdempotent(action, tools)) return { type: "failed", fault: new Fault("TOOL_FAILED", why).report() };
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
}
