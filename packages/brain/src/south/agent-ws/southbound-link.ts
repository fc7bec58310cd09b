import { Fault, REGISTER_LIMITS, textIn } from "@vidro/core";
import { isRecall, recallOf } from "@vidro/core/run";
import type {
  Action,
  ActionEnd,
  FaultReport,
  JsonObject,
  Judgement,
  Order,
  SpoolPart,
  Surroundings,
  ToolSpec,
} from "@vidro/core";
import { bareOrder, faultOf, judgeMessage, orderMessage, SIGNED_APPROVALS } from "@vidro/core/wire/agent-ws";
import type { HandLink, OutputSink } from "../link.ts";
import { soundFacts, soundJudgement, soundReply, soundSpoolPart } from "../hand-answers.ts";
import { fallbackJudgement } from "../fallback-policy.ts";

/** The transport under a link of southbound messages. */
export interface SouthboundWire {
  /** Sends a message; throws a Fault when it cannot. */
  send(message: JsonObject): void;
  /** Sends a fault and closes the connection. */
  close(why: FaultReport): void;
  /** Capabilities that the hand declared. */
  readonly capabilities: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly epoch: number;
}

/** Adds the brain's warrant to an order that a person approved. */
export type AddWarrant = (order: Order) => Promise<Order>;

/** A link whose transport passes on what the hand sends. */
export interface SouthboundLink extends HandLink {
  /** A reply came. */
  reply(message: JsonObject): void;
  /** Live output came. */
  output(message: JsonObject): void;
  /** The connection is gone: rejects every pending call. */
  drop(): void;
}

/** How a pending call takes its reply. */
interface CallSettings {
  readonly id: string;
  /** The time limit, and the fault of a call that exceeds it. */
  readonly late: { readonly ms: number; readonly fault: Fault };
  readonly hear?: OutputSink;
}

/** A call that waits for its reply. */
interface PendingReply {
  readonly id: string;
  readonly hear: OutputSink | undefined;
  readonly resolve: (reply: JsonObject) => void;
  readonly reject: (fault: Fault) => void;
}

/**
 * Orders and their ends as southbound messages, over any transport. A reply belongs to the message whose id it echoes,
 * else to the order of its action; a hand that sends neither gets one order at a time, and each reply is to that one.
 */
export function southboundLink(wire: SouthboundWire, warranting?: AddWarrant): SouthboundLink {
  return new MessageLink(wire, wire.capabilities.includes(SIGNED_APPROVALS) ? warranting : undefined);
}

class MessageLink implements SouthboundLink {
  readonly #wire: SouthboundWire;
  readonly #warranting: AddWarrant | undefined;
  readonly #waiting = new Map<string, PendingReply>();
  /** Whether replies of the hand name what they reply to. */
  readonly #names: boolean;
  /** For a hand whose replies do not: settles when its previous order is over. */
  #before: Promise<unknown> = Promise.resolve();
  #gone = false;
  /** How often facts and spools were asked for, which makes the ids of these messages. */
  #asked = 0;

  constructor(wire: SouthboundWire, warranting: AddWarrant | undefined) {
    this.#wire = wire;
    this.#warranting = warranting;
    this.#names = wire.capabilities.includes("tool.run");
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    if (!this.#can("action.judge")) return fallbackJudgement(action, this.#wire.tools);
    const id = `judge-${action.id}`;
    const late = { ms: REGISTER_LIMITS.judgeMs, fault: away("It did not judge the action in time.") };
    const reply = await this.#ask({ ...judgeMessage(action), id }, { id, late });
    return reply["ok"] === true ? soundJudgement(reply["judgement"]) : faultOf(reply);
  }

  async surroundings(): Promise<Surroundings> {
    if (!this.#can("host.facts")) return {};
    this.#asked += 1;
    const id = `facts-${this.#asked}`;
    const late = { ms: REGISTER_LIMITS.factsMs, fault: away("It did not tell the facts of its host in time.") };
    const reply = await this.#ask({ method: "host.facts", id }, { id, late });
    return reply["ok"] === true ? soundFacts(reply["facts"]) : {};
  }

  async readSpool(action: string, from: number): Promise<SpoolPart | FaultReport> {
    if (!this.#can("spool.read")) return new Fault("NOT_FOUND", NO_SPOOLS).report();
    this.#asked += 1;
    const id = `spool-${this.#asked}`;
    const late = { ms: REGISTER_LIMITS.judgeMs, fault: away("It did not send the output in time.") };
    const reply = await this.#ask({ method: "spool.read", id, action_id: action, offset: from }, { id, late });
    return reply["ok"] === true ? soundSpoolPart(reply) : faultOf(reply);
  }

  async perform(order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    if (this.#names) return this.#order(signal.aborted ? recallOf(order) : order, hear, signal);
    // The contract has no message that asks for the outcome of an earlier order.
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
    if (this.#can("action.ack")) this.#notify({ method: "action.ack", action_id: action });
  }

  close(why: FaultReport): void {
    this.#wire.close(why);
    this.drop();
  }

  reply(message: JsonObject): void {
    const waiting = this.#repliedTo(message);
    // A reply without a pending call is late or repeated; the hand keeps the outcome in its ledger.
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

  #repliedTo(message: JsonObject): PendingReply | undefined {
    const named = textIn(message, "id") ?? textIn(message, "action_id");
    if (named !== undefined) return this.#waiting.get(named);
    return this.#names ? undefined : [...this.#waiting.values()][0];
  }

  async #order(given: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> {
    // Only an order that a person approved needs a signature.
    const order = given.approved === undefined ? given : ((await this.#warranting?.(given)) ?? given);
    const { id } = order.action;
    const cancel = (): void => {
      if (this.#can("action.cancel")) this.#notify({ method: "action.cancel", action_id: id });
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

  async #ask(message: JsonObject, { id, late, hear }: CallSettings): Promise<JsonObject> {
    if (this.#gone) throw away("The connection to it is lost.");
    if (this.#waiting.size >= REGISTER_LIMITS.orders) throw away(`It has ${REGISTER_LIMITS.orders} orders already.`);
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const mine = { id, hear, resolve, reject };
    this.#waiting.get(id)?.reject(away("The action was ordered again."));
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

  #notify(message: JsonObject): void {
    try {
      this.#wire.send(message);
    } catch {
      // A notice that is lost is repaired later: the order is repeated, or the hand keeps the outcome.
    }
  }

  #can(capability: string): boolean {
    return this.#wire.capabilities.includes(capability);
  }
}

const NO_SPOOLS = "This hand is of a version that gives out no whole outputs; update Vidro on its host.";
const NOT_BEGUN = "The action was aborted before it was ordered; nothing was run.";
const NO_END = "The hand took the order and never said how it ended.";
const FORGETFUL = "This hand cannot be asked what became of an earlier order.";

function unknown(fault: Fault): ActionEnd {
  return { type: "unknown", fault: fault.report() };
}

function away(why: string): Fault {
  return new Fault("HAND_UNAVAILABLE", `The hand cannot be reached. ${why}`);
}
