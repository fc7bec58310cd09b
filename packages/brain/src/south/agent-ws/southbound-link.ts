import { Fault, REGISTER_LIMITS, textIn } from "@vidro/core";
import { isRecall, recallOf } from "@vidro/core/run";
import type { Action, ActionEnd, FaultReport, JsonObject, Judgement, Order, ToolSpec } from "@vidro/core";
import { bareOrder, faultOf, judgeMessage, orderMessage, SIGNED_APPROVALS } from "@vidro/core/wire/agent-ws";
import type { HandLink, OutputSink } from "../link.ts";
import { soundJudgement, soundReply } from "../hand-answers.ts";
import { fallbackJudgement } from "../fallback-policy.ts";

/** What a link over southbound messages stands on. */
export interface SouthboundWire {
  /** Hands a message to the transport; throws a Fault when it cannot be taken. */
  send(message: JsonObject): void;
  /** Says why, and hangs up. */
  close(why: FaultReport): void;
  /** What the hand declared. */
  readonly capabilities: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly epoch: number;
}

/** Gives an order to this hand the brain's signature over its approval. */
export type AddWarrant = (order: Order) => Promise<Order>;

/** A link that its transport feeds with what the hand says. */
export interface SouthboundLink extends HandLink {
  /** A reply came. */
  reply(message: JsonObject): void;
  /** Live output came. */
  output(message: JsonObject): void;
  /** The connection is gone: whoever waits is told so. */
  drop(): void;
}

/** How a reply is awaited. */
interface Asking {
  readonly id: string;
  /** When it is too late, and what is said then. */
  readonly late: { readonly ms: number; readonly fault: Fault };
  readonly hear?: OutputSink;
}

/** Somebody who waits for a reply. */
interface Waiting {
  readonly id: string;
  readonly hear: OutputSink | undefined;
  readonly resolve: (reply: JsonObject) => void;
  readonly reject: (fault: Fault) => void;
}

/**
 * Orders and their ends as southbound messages, whatever carries them. Replies are told apart by the id that they
 * echo, else by their action; a hand that gives neither has one order at a time, and any reply is to that one.
 */
export function southboundLink(wire: SouthboundWire, warranting?: AddWarrant): SouthboundLink {
  return new MessageLink(wire, wire.capabilities.includes(SIGNED_APPROVALS) ? warranting : undefined);
}

class MessageLink implements SouthboundLink {
  readonly #wire: SouthboundWire;
  readonly #warranting: AddWarrant | undefined;
  readonly #waiting = new Map<string, Waiting>();
  /** Whether the hand tells its replies apart. */
  readonly #names: boolean;
  /** With a hand that does not, the order before. */
  #before: Promise<unknown> = Promise.resolve();
  #gone = false;

  constructor(wire: SouthboundWire, warranting: AddWarrant | undefined) {
    this.#wire = wire;
    this.#warranting = warranting;
    this.#names = wire.capabilities.includes("tool.run");
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    if (!this.#can("action.judge")) return fallbackJudgement(action, this.#wire.tools);
    const id = `judge-${action.id}`;
    const late = { ms: REGISTER_LIMITS.judgeMs, fault: away("It did not say in time what it would do.") };
    const reply = await this.#ask({ ...judgeMessage(action), id }, { id, late });
    return reply["ok"] === true ? soundJudgement(reply["judgement"]) : faultOf(reply);
  }

  async perform(order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    if (this.#names) return this.#order(signal.aborted ? recallOf(order) : order, hear, signal);
    // The contract has no words for asking what became of an order.
    if (isRecall(order)) return unknown(new Fault("OUTCOME_UNKNOWN", FORGETFUL));
    const { promise: left, resolve: leave } = Promise.withResolvers<ActionEnd>();
    const notGiven = (): void => leave({ type: "failed", fault: new Fault("ACTION_EXPIRED", NOT_BEGUN).report() });
    signal.addEventListener("abort", notGiven, { once: true });
    if (signal.aborted) notGiven();
    const ended = this.#before.then(() => {
      signal.removeEventListener("abort", notGiven);
      return signal.aborted ? left : this.#order(order, hear, signal);
    });
    this.#before = ended.catch(() => undefined);
    return Promise.race([ended, left]);
  }

  acknowledge(action: string): void {
    if (this.#can("action.ack")) this.#tell({ method: "action.ack", action_id: action });
  }

  close(why: FaultReport): void {
    this.#wire.close(why);
    this.drop();
  }

  reply(message: JsonObject): void {
    const waiting = this.#repliedTo(message);
    // A reply that nobody waits for is late or a repetition: the ledger of the hand keeps it for who asks again.
    if (waiting === undefined) return;
    this.#waiting.delete(waiting.id);
    waiting.resolve(message);
  }

  output(message: JsonObject): void {
    const { stream, chunk } = message;
    const waiting = this.#waiting.get(textIn(message, "action_id") ?? "");
    if ((stream === "stdout" || stream === "stderr") && typeof chunk === "string") waiting?.hear?.(stream, chunk);
  }

  drop(): void {
    this.#gone = true;
    for (const { reject } of this.#waiting.values()) reject(away("The connection to it is lost."));
    this.#waiting.clear();
  }

  #repliedTo(message: JsonObject): Waiting | undefined {
    const named = textIn(message, "id") ?? textIn(message, "action_id");
    if (named !== undefined) return this.#waiting.get(named);
    return this.#names ? undefined : [...this.#waiting.values()][0];
  }

  async #order(given: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    // Only what a person approved waits for a signature.
    const order = given.approved === undefined ? given : ((await this.#warranting?.(given)) ?? given);
    const { id } = order.action;
    const cancel = (): void => {
      if (this.#can("action.cancel")) this.#tell({ method: "action.cancel", action_id: id });
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const message = this.#names ? { ...orderMessage(order, this.#wire.epoch), id } : bareOrder(order);
      const late = { ms: REGISTER_LIMITS.endMs, fault: new Fault("OUTCOME_UNKNOWN", NO_END) };
      const asked = this.#ask(message, { id, late, hear });
      if (signal.aborted) cancel();
      return soundReply(await asked);
    } catch (thrown) {
      if (!(thrown instanceof Fault && thrown.code === "OUTCOME_UNKNOWN")) throw thrown;
      return unknown(thrown);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async #ask(message: JsonObject, { id, late, hear }: Asking): Promise<JsonObject> {
    if (this.#gone) throw away("The connection to it is lost.");
    if (this.#waiting.size >= REGISTER_LIMITS.orders) throw away(`It has ${REGISTER_LIMITS.orders} orders already.`);
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const mine = { id, hear, resolve, reject };
    this.#waiting.get(id)?.reject(away("The same was ordered again."));
    this.#waiting.set(id, mine);
    const timer = setTimeout(() => reject(late.fault), late.ms);
    try {
      this.#wire.send(message);
      return await promise;
    } finally {
      clearTimeout(timer);
      if (this.#waiting.get(id) === mine) this.#waiting.delete(id);
    }
  }

  #tell(message: JsonObject): void {
    try {
      this.#wire.send(message);
    } catch {
      // What is only told is told again by whoever needs it: an order that is repeated, an outcome that is kept.
    }
  }

  #can(capability: string): boolean {
    return this.#wire.capabilities.includes(capability);
  }
}

const NOT_BEGUN = "The action was aborted before it was ordered; nothing was run.";
const NO_END = "The hand took the order and never said how it ended.";
const FORGETFUL = "This hand cannot be asked what became of an earlier order.";

function unknown(fault: Fault): ActionEnd {
  return { type: "unknown", fault: fault.report() };
}

function away(why: string): Fault {
  return new Fault("HAND_UNAVAILABLE", `The hand cannot be reached. ${why}`);
}
