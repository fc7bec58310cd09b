import { asFault, Fault, FAULTS, isObject, REGISTER_LIMITS, RELAY_LIMITS, textIn } from "@vidro/core";
import type {
  Action,
  ActionEnd,
  FaultCode,
  FaultReport,
  Json,
  JsonObject,
  Judgement,
  Order,
  SpoolPart,
  Surroundings,
} from "@vidro/core";
import { soundEnd, soundFacts, soundJudgement, soundSpoolPart } from "../hand-answers.ts";
import type { HandLink, OutputSink } from "../link.ts";
import { topicOfBrain } from "./relay-server.ts";
import type { SignedMessages } from "./signed-messages.ts";

/** A call that another brain works on. */
interface PendingCall {
  readonly link: HandLink;
  readonly hear: OutputSink;
  readonly resolve: (reply: JsonObject) => void;
  readonly reject: (fault: Fault) => void;
  /** When the other brain last gave a sign of it. */
  signAt: number;
}

/** How a call is sent, and where what comes of it goes. */
interface Caller {
  readonly link: HandLink;
  readonly send: (message: JsonObject) => void;
  readonly hear?: OutputSink;
  readonly signal?: AbortSignal;
}

/** Calls of hands that are connected to other brains. */
export class RelayCalls {
  readonly #messages: SignedMessages;
  readonly #pending = new Map<string, PendingCall>();
  readonly #stop: () => void;
  #count = 0;

  constructor(messages: SignedMessages, brain: string) {
    this.#messages = messages;
    this.#stop = messages.hear(`replies:${brain}`, (message) => this.#take(message));
  }

  /** The link to a hand that is connected to another brain. */
  linkTo(brain: string, hand: string): HandLink {
    const topic = topicOfBrain(brain);
    const send = (message: JsonObject): void => this.#messages.send(topic, message);
    const link: HandLink = {
      isRelayed: true,
      judge: async (action: Action): Promise<Judgement | FaultReport> => {
        const reply = await this.#call({ link, send }, { type: "judge", hand, action: asJson(action) });
        return reply["fault"] === undefined ? soundJudgement(reply["judgement"]) : faultIn(reply["fault"]).report();
      },
      surroundings: () => inTime(this.#call({ link, send }, { type: "facts", hand })),
      readSpool: async (action: string, from: number): Promise<SpoolPart | FaultReport> => {
        const reply = await this.#call({ link, send }, { type: "spool", hand, action, from });
        return reply["fault"] === undefined ? soundSpoolPart(reply["part"]) : faultIn(reply["fault"]).report();
      },
      perform: async (order: Order, hear: OutputSink, signal: AbortSignal): Promise<ActionEnd> => {
        const asked = { type: "perform", hand, order: asJson(order), stopped: signal.aborted };
        return soundEnd((await this.#call({ link, send, hear, signal }, asked))["end"]);
      },
      acknowledge: (action) => send({ type: "acknowledge", hand, action }),
      close: () => this.drop(link),
    };
    return link;
  }

  /** The way to a hand is gone: rejects its calls. */
  drop(link: HandLink): void {
    for (const call of this.#pending.values()) if (call.link === link) call.reject(awayFault());
  }

  /** Rejects calls of which there was no sign for too long. */
  tend(): void {
    const since = performance.now() - RELAY_LIMITS.silentMs;
    for (const call of this.#pending.values()) if (call.signAt < since) call.reject(awayFault());
  }

  /** Rejects all calls. */
  close(): void {
    this.#stop();
    for (const call of this.#pending.values()) call.reject(awayFault());
  }

  async #call({ link, send, hear = () => undefined, signal }: Caller, asked: JsonObject): Promise<JsonObject> {
    this.#count += 1;
    const id = String(this.#count);
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#pending.set(id, { link, hear, resolve, reject, signAt: performance.now() });
    const stop = (): void => send({ type: "stop", id });
    signal?.addEventListener("abort", stop, { once: true });
    try {
      send({ ...asked, id });
      return await promise;
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#pending.delete(id);
    }
  }

  #take(message: JsonObject): void {
    const { type, ids } = message;
    const known = (Array.isArray(ids) ? ids : [message["id"]]).flatMap((id) => this.#pending.get(String(id)) ?? []);
    for (const call of known) {
      call.signAt = performance.now();
      if (type === "replied") call.resolve(message);
      if (type === "failed") call.reject(faultIn(message["fault"]));
      const { stream } = message;
      if (type === "output" && (stream === "stdout" || stream === "stderr"))
        call.hear(stream, textIn(message, "chunk") ?? "");
    }
  }
}

/** The facts in a reply; none when it takes too long: a brain of an older version does not know the question. */
async function inTime(asked: Promise<JsonObject>): Promise<Surroundings> {
  const { promise: late, resolve } = Promise.withResolvers<JsonObject>();
  const timer = setTimeout(resolve, REGISTER_LIMITS.factsMs, {});
  try {
    return soundFacts((await Promise.race([asked, late]))["facts"]);
  } finally {
    clearTimeout(timer);
  }
}

function asJson(value: Action | Order): JsonObject {
  return value as unknown as JsonObject;
}

function faultIn(value: Json | undefined): Fault {
  if (!isObject(value)) return awayFault();
  const { code, message } = value;
  return new Fault(isKnown(code) ? code : "HAND_UNAVAILABLE", asFault(message).message);
}

function isKnown(code: unknown): code is FaultCode {
  return typeof code === "string" && Object.hasOwn(FAULTS, code);
}

function awayFault(): Fault {
  return new Fault("HAND_UNAVAILABLE", "The hand cannot be reached. The brain that it is connected to is away.");
}
