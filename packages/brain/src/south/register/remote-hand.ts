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
  SpoolPart,
  Surroundings,
  ToolSpec,
} from "@vidro/core";
import type { HandLink } from "../link.ts";
import { PendingStops } from "./pending-stops.ts";

/** Settings of a hand on another machine. */
interface RemoteHandOptions {
  /** Orders to stop on hands when they are connected again. */
  readonly stops?: PendingStops;
  /** Another bound than REGISTER_LIMITS.overdueMs, for tests. */
  readonly overdueMs?: number | undefined;
}

/**
 * A hand on another machine, whether or not it is connected now. It keeps no orders: the engine orders again under the
 * same id, and the hand's ledger answers. Only an order to stop is kept, until the hand has carried it out.
 */
export class RemoteHand implements Hand {
  #description: HandDescription;
  #link: HandLink | undefined;
  #barred: HandRestriction | undefined;
  /** Actions whose outcome is durable here and not yet acknowledged to the hand. */
  readonly #unacknowledged = new Set<string>();
  /** Callbacks of watch(). */
  readonly #wakes = new Set<() => void>();
  /** Ends that came after their order was given up, until they are acknowledged. */
  readonly #late = new Map<string, ActionEnd>();
  readonly #stops: PendingStops;
  readonly #overdueMs: number | undefined;

  constructor(description: HandDescription, { stops = new PendingStops(), overdueMs }: RemoteHandOptions = {}) {
    this.#description = description;
    this.#stops = stops;
    this.#overdueMs = overdueMs;
  }

  get id(): string {
    return this.#description.id;
  }

  /** The folder that it says it works in; "." unless that looks like a path, since models read it. */
  get workspace(): string {
    return FOLDER.test(this.#description.workspace) ? this.#description.workspace : ".";
  }

  get tools(): readonly ToolSpec[] {
    return this.#description.tools;
  }

  /** Its description. */
  get description(): HandDescription {
    return this.#description;
  }

  /** The connection, while there is one. */
  get link(): HandLink | undefined {
    return this.#link;
  }

  /** Its restriction, if it has one. */
  get barred(): HandRestriction | undefined {
    return this.#barred;
  }

  /** Sets or removes its restriction; running actions are not touched. */
  bar(barred: HandRestriction | undefined): void {
    this.#barred = barred;
  }

  /** Takes a description that another brain has put on record, unless the hand itself gave one over this connection. */
  describe(description: HandDescription): void {
    if (this.#link === undefined) this.#description = description;
  }

  /** Uses a new connection from now on, and sends it the acknowledgements and stops that wait. */
  attach(description: HandDescription, link: HandLink): void {
    this.#description = description;
    this.#link = link;
    for (const action of this.#unacknowledged) link.acknowledge(action);
    this.#unacknowledged.clear();
    for (const order of this.#stops.of(description.id)) void this.#stop(order, link);
    // Callers whose old connection was just rejected call watch() only after this turn of the event loop.
    setImmediate(() => this.wake());
  }

  /** Calls every callback of watch(): the hand is connected, or a late end has come. */
  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** Removes a connection, unless a newer one has replaced it; returns whether it was the one in use. */
  detach(link: HandLink): boolean {
    if (this.#link !== link) return false;
    this.#link = undefined;
    return true;
  }

  watch(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }

  /** The facts of its host; none while it is away, restricted or silent. */
  async surroundings(): Promise<Surroundings> {
    try {
      return (await this.#connectedLink().surroundings?.()) ?? {};
    } catch {
      return {};
    }
  }

  async readSpool({ id }: Action, from: number): Promise<SpoolPart | FaultReport> {
    try {
      const part = await this.#connectedLink().readSpool?.(id, from);
      return part ?? new Fault("NOT_FOUND", `The link to ${this.#description.name} carries no whole outputs.`).report();
    } catch (thrown) {
      return asFault(thrown).report();
    }
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    try {
      const judged = await this.#connectedLink().judge(action);
      if ("code" in judged) return judged;
      // The policy of another host is its own: no rule is offered for it.
      const { always: _, ...judgement } = judged;
      return judgement;
    } catch (thrown) {
      return asFault(thrown).report();
    }
  }

  async *perform(order: Order, signal: AbortSignal): AsyncIterable<HandEvent> {
    const live = new LiveQueue();
    const ended = this.#order(order, live, signal).catch((thrown: unknown): ActionEnd => ({
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

  async #order(order: Order, live: LiveQueue, signal: AbortSignal): Promise<ActionEnd> {
    const { action } = order;
    const known = this.#late.get(action.id);
    if (known !== undefined) return known;
    const link = await this.#linkFor(order, signal);
    const hear = (stream: "stdout" | "stderr", chunk: string): void => live.put({ type: "output", stream, chunk });
    const left = Promise.withResolvers<ActionEnd>();
    const stop = new AbortController();
    // A brain that shuts down does not stop work on other machines: the next one finds it under the same id.
    const onAbort = (): void => {
      if (isStopped(signal)) return stop.abort(signal.reason);
      left.reject(new Fault("HAND_UNAVAILABLE", "The brain left while the action ran."));
    };
    const overdue = setTimeout(
      () => {
        stop.abort(new Fault("ACTION_EXPIRED"));
        // A link that has not sent the order yet settles first.
        setImmediate(() => left.resolve(neverEnded(action, this.tools)));
      },
      deadlineMs(action, this.#overdueMs),
    );
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const performed = link.perform(order, hear, stop.signal);
    let isLeft = false;
    performed.then(
      (ended) => this.#takeEnd(order, ended, isLeft),
      // The hand's ledger has the end; a stop is sent when the hand is connected again.
      () =>
        stop.signal.aborted || order.isEnding === true
          ? this.#stops.add(this.#description, order).catch(() => undefined)
          : undefined,
    );
    return Promise.race([left.promise, performed]).finally(() => {
      isLeft = true;
      clearTimeout(overdue);
      signal.removeEventListener("abort", onAbort);
    });
  }

  /** Takes the end of an order; a late one is kept for the next order of the action. */
  #takeEnd({ action }: Order, ended: ActionEnd, isLate: boolean): void {
    this.#stops.drop(action.id).catch(() => undefined);
    if (!isLate || !isSettled(ended)) return;
    const [oldest] = this.#late.keys();
    if (this.#late.size >= REGISTER_LIMITS.lateEnds && oldest !== undefined) this.#late.delete(oldest);
    this.#late.set(action.id, ended);
    this.wake();
  }

  /** The link for an order. A stop is no new work: it also goes to a barred hand, and is kept for one that is away. */
  async #linkFor(order: Order, signal: AbortSignal): Promise<HandLink> {
    if (!isStopped(signal) && order.isEnding !== true) return this.#connectedLink();
    if (this.#link !== undefined) return this.#link;
    await this.#stops.add(this.#description, order);
    return this.#connectedLink();
  }

  /** Stops an action of an aborted run on the hand, or ends a process of a run that is over. */
  async #stop(order: Order, link: HandLink): Promise<void> {
    const isEnding = order.isEnding === true;
    const signal = isEnding ? new AbortController().signal : AbortSignal.abort();
    try {
      this.#takeEnd(order, await link.perform(isEnding ? order : recallOf(order), () => undefined, signal), true);
    } catch {
      // The connection is gone again: the next one gets the stop.
    }
  }

  #connectedLink(): HandLink {
    if (this.#barred === "revoked") throw new Fault("HAND_REVOKED", `The hand ${this.#description.name} was revoked.`);
    if (this.#barred === "quarantined")
      throw new Fault("HAND_QUARANTINED", `The hand ${this.#description.name} is in quarantine and gets no new work.`);
    if (this.#link === undefined)
      throw new Fault("HAND_UNAVAILABLE", `The hand ${this.#description.name} is not connected.`);
    return this.#link;
  }
}

/** A path without blanks and of bounded length. */
const FOLDER = new RegExp(`^[\\p{L}\\p{N}._@%+=:,~/\\\\-]{1,${REGISTER_LIMITS.folderChars}}$`, "u");

/** Whether a signal asks to stop the action; a shutdown of the brain does not. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted && asFault(signal.reason).code !== "SHUTTING_DOWN";
}

function neverEnded(action: Action, tools: readonly ToolSpec[]): ActionEnd {
  const why = "The hand got the order and sent no outcome in time.";
  if (isIdempotent(action, tools)) return { type: "failed", fault: new Fault("TOOL_FAILED", why).report() };
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
}
