import { asFault, Fault, RELAY_LIMITS, textIn } from "@vidro/core";
import type { Action, FaultReport, Json, JsonObject, Order } from "@vidro/core";
import type { HandLink } from "../link.ts";
import type { SignedMessages } from "./signed-messages.ts";

/** The topic on which a brain hears calls of the hands that are connected to it. */
export function topicOfBrain(brain: string): string {
  return `calls:${brain}`;
}

/** Dependencies of the relay's server. */
interface RelayServerDependencies {
  readonly messages: SignedMessages;
  /** The name of this brain. */
  readonly brain: string;
  /** The connection of a hand to this brain. */
  readonly ownLink: (hand: string) => HandLink | undefined;
}

/** Carries out what other brains ask of the hands that are connected to this one. */
export class RelayServer {
  readonly #deps: RelayServerDependencies;
  /** Calls under way, by brain and id, with what stops them. */
  readonly #open = new Map<string, Map<string, AbortController>>();
  readonly #stop: () => void;

  constructor(deps: RelayServerDependencies) {
    this.#deps = deps;
    this.#stop = deps.messages.hear(topicOfBrain(deps.brain), (message, from) => this.#take(message, from));
  }

  /** Tells the other brains which of their calls are under way. */
  tend(): void {
    for (const [brain, calls] of this.#open) this.#reply(brain, { type: "open", ids: [...calls.keys()] });
  }

  /** Hears no more calls; hands go on with what they do. */
  close(): void {
    this.#stop();
  }

  #take(message: JsonObject, from: string): void {
    const { type, action, order } = message;
    const id = textIn(message, "id") ?? "";
    if (type === "stop") return this.#open.get(from)?.get(id)?.abort();
    const link = this.#deps.ownLink(textIn(message, "hand") ?? "");
    if (type === "acknowledge") return link?.acknowledge(textIn(message, "action") ?? "");
    const isStopped = message["stopped"] === true;
    if (type === "judge") void this.#serve(from, id, () => judge(link, action as unknown as Action));
    if (type === "facts")
      void this.#serve(from, id, async () => {
        const facts = (await there(link).surroundings?.()) ?? {};
        return { facts: facts as unknown as Json };
      });
    if (type === "spool")
      void this.#serve(from, id, async () => {
        const part = await there(link).readSpool?.(textIn(message, "action") ?? "", Number(message["from"]));
        if (part === undefined) throw new Fault("NOT_FOUND", "The link to the hand carries no whole outputs.");
        return isFault(part) ? { fault: part as unknown as Json } : { part: { ...part } };
      });
    if (type === "perform")
      void this.#serve(from, id, async (signal) => {
        const hear = (stream: string, chunk: string): void => this.#reply(from, { type: "output", id, stream, chunk });
        const ended = await there(link).perform(
          order as unknown as Order,
          hear,
          isStopped ? AbortSignal.abort() : signal,
        );
        return { end: ended as unknown as Json };
      });
  }

  async #serve(from: string, id: string, work: (signal: AbortSignal) => Promise<JsonObject>): Promise<void> {
    const calls = this.#open.get(from) ?? new Map<string, AbortController>();
    this.#open.set(from, calls);
    const controller = new AbortController();
    try {
      if (calls.size >= RELAY_LIMITS.calls)
        throw new Fault("HAND_UNAVAILABLE", `Its brain works on ${RELAY_LIMITS.calls} calls of this one already.`);
      calls.set(id, controller);
      this.#reply(from, { type: "replied", id, ...(await work(controller.signal)) });
    } catch (thrown) {
      this.#reply(from, { type: "failed", id, fault: asFault(thrown).report() as unknown as Json });
    } finally {
      calls.delete(id);
      if (calls.size === 0 && this.#open.get(from) === calls) this.#open.delete(from);
    }
  }

  #reply(brain: string, message: JsonObject): void {
    try {
      this.#deps.messages.send(`replies:${brain}`, message);
    } catch (thrown) {
      // The outcome is in the hand's ledger; only its text is too long for the bus.
      const fault = asFault(thrown).report() as unknown as Json;
      this.#deps.messages.send(`replies:${brain}`, { type: "failed", id: message["id"] ?? "", fault });
    }
  }
}

async function judge(link: HandLink | undefined, action: Action): Promise<JsonObject> {
  const judgement = await there(link).judge(action);
  return isFault(judgement) ? { fault: judgement as unknown as Json } : { judgement: judgement as unknown as Json };
}

function isFault(judged: object): judged is FaultReport {
  return "code" in judged;
}

function there(link: HandLink | undefined): HandLink {
  if (link === undefined) throw new Fault("HAND_UNAVAILABLE", "The hand is not connected to that brain any more.");
  return link;
}
