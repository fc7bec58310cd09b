import { randomBytes } from "node:crypto";
import { Fault, REGISTER_LIMITS, isObject, SIGNED_HTTP_LIMITS, textIn } from "@vidro/core";
import type { Bus, HandDescription, JsonObject, Records, ToolSpec } from "@vidro/core";
import { answerSigned, deriveKeys, MESSAGES_PATH, POLL_PATH } from "@vidro/core/wire/agent-http";
import type { VerifiedMessage, SignedMessageServer } from "@vidro/core/wire/agent-http";
import { openEnvelope } from "@vidro/core/wire/agent-ws";
import type { Hello, AgentRequest } from "@vidro/core/wire/agent-ws";
import type { Log } from "../observe/log.ts";
import type { TakeSample } from "../observe/telemetry.ts";
import { directCall, HandAddresses } from "./agent-http/direct-call.ts";
import { describeAgent, declaredTools, receiptFields } from "./agent-ws/greeting.ts";
import type { HandRegister } from "./register/hand-register.ts";
import { HttpSession } from "./agent-http/http-session.ts";
import type { SessionOptions } from "./agent-http/http-session.ts";
import type { Identities } from "./enrolment/identities.ts";
import { handOfKey } from "./agent-http/keys.ts";
import type { HandKeys } from "./agent-http/keys.ts";
import { UsedNonces } from "./agent-http/nonces.ts";
import { signatureCrypto } from "./agent-http/signature-crypto.ts";
import type { SouthboundAnswer, SouthboundRequest, SouthboundRoute } from "./agent-ws/southbound-server.ts";
import { southboundLink } from "./agent-ws/southbound-link.ts";
import { checkAgentMessage, telemetryPush } from "./agent-ws/message-checks.ts";
import type { Warrants } from "./warrants.ts";

/** Dependencies of the gateway `agent-http`. */
export interface AgentHttpDependencies {
  readonly hands: HandRegister;
  readonly keys: HandKeys;
  readonly warrants: Warrants;
  readonly identities: Pick<Identities, "find">;
  /** The store of nonces. */
  readonly records: Records;
  /** Tells other brains of attempts. */
  readonly bus?: Bus;
  /** Takes the telemetry samples of a hand. */
  readonly take: TakeSample;
  readonly standardTools: () => Promise<readonly ToolSpec[]>;
  readonly log: Log;
  readonly now: () => number;
  /** Version of the brain. */
  readonly version: string;
  /** How the listener is reached. */
  readonly scheme: SignedMessageServer["scheme"];
  readonly bounds?: Partial<typeof AGENT_HTTP_BOUNDS>;
}

/** The bounds of the gateway that tests may change. */
const AGENT_HTTP_BOUNDS: { readonly [Name in "pollMs" | "silenceMs"]: number } = {
  pollMs: SIGNED_HTTP_LIMITS.pollMs,
  silenceMs: REGISTER_LIMITS.heartbeatMs * REGISTER_LIMITS.heartbeatsMissed,
};

/** The gateway of hands that poll over HTTP and sign each message [000-41, 000-53, 000-54]. */
export class AgentHttp {
  readonly #deps: AgentHttpDependencies;
  readonly #bounds: typeof AGENT_HTTP_BOUNDS;
  readonly #nonces: UsedNonces;
  readonly #addresses: HandAddresses;
  readonly #decoyKeys = deriveKeys(randomBytes(SIGNED_HTTP_LIMITS.keyBytes), "none", signatureCrypto);
  readonly #sessions = new Map<string, HttpSession>();

  constructor(deps: AgentHttpDependencies) {
    this.#deps = deps;
    this.#bounds = { ...AGENT_HTTP_BOUNDS, ...deps.bounds };
    this.#nonces = new UsedNonces(deps.records, deps.now, deps.bus);
    this.#addresses = new HandAddresses(deps.records);
  }

  /** Its routes on the listener for hands. */
  routes(): readonly SouthboundRoute[] {
    return [MESSAGES_PATH, POLL_PATH].map((path) => ({
      method: "POST",
      path,
      maxBytes: REGISTER_LIMITS.messageBytes,
      handle: (request) => this.#serve(request),
    }));
  }

  /** Gives a hand its next key, at once or at its next hello; the old one ends a day after the first use of the new one. */
  async rotate(hand: string): Promise<{ readonly keyid: string }> {
    const session = this.#sessions.get(hand);
    if (session !== undefined && !session.capabilities.includes(ROTATE))
      throw new Fault("CONFLICT", "This hand cannot change its key by itself: revoke it and invite the host again.");
    const { keyid } = await this.#deps.keys.rotate(hand);
    if (session !== undefined) await this.#sendNextKey(hand, session);
    this.#deps.log("hand.key_rotated", { agent_id: hand, keyid });
    return { keyid };
  }

  /** Allows a hand to be called at an address that it names, or at none, from its next hello on. */
  async allowAddress(hand: string, url: string | undefined): Promise<void> {
    await this.#addresses.allow(hand, await this.#deps.keys.owner(hand), url);
  }

  /** Ends every session; the hands connect again to the next brain. */
  close(): void {
    for (const session of this.#sessions.values()) session.close(new Fault("SHUTTING_DOWN").report());
  }

  async #serve({ target, rawHeaders, body, signal }: SouthboundRequest): Promise<SouthboundAnswer> {
    const reply = await answerSigned(this.#messageServer(signal), { method: "POST", target, rawHeaders, body });
    return { status: reply.status, headers: reply.headers, text: Buffer.from(reply.body).toString("utf8") };
  }

  #messageServer(gone: AbortSignal): SignedMessageServer {
    const { keys, now, scheme, log } = this.#deps;
    return {
      crypto: signatureCrypto,
      scheme,
      now,
      from: "toBrain",
      decoyKeys: this.#decoyKeys,
      keys: (keyid) => keys.keys(keyid),
      isFirst: (claim) => this.#nonces.isFirst(claim),
      answer: async (authentic) => {
        try {
          return await this.#answer(authentic, gone);
        } catch (thrown) {
          if (!(thrown instanceof Fault)) log("hand.message_faulted", errorFields(authentic, thrown));
          throw thrown;
        }
      },
    };
  }

  async #answer({ keyid, path, message }: VerifiedMessage, gone: AbortSignal): Promise<JsonObject> {
    const hand = handOfKey(keyid);
    if ((await this.#deps.hands.restrictionOf(hand)) === "revoked") throw new Fault("HAND_REVOKED");
    await this.#deps.keys.noteUse(keyid);
    if (path === POLL_PATH) return this.#poll(hand, message, gone);
    if (path !== MESSAGES_PATH) throw new Fault("NOT_FOUND", `There is nothing at ${path}.`);
    const { messages } = message;
    if (!Array.isArray(messages)) return this.#take(hand, message);
    if (messages.length > SIGNED_HTTP_LIMITS.messages)
      throw new Fault("BAD_REQUEST", `At most ${SIGNED_HTTP_LIMITS.messages} messages are sent at once.`);
    const replies: JsonObject[] = [];
    for (const one of messages) replies.push(isObject(one) ? await this.#take(hand, one).catch(refusal) : NO_OBJECT);
    return { ok: true, replies };
  }

  async #poll(hand: string, { ack, session_epoch: epoch }: JsonObject, gone: AbortSignal): Promise<JsonObject> {
    const session = this.#must(hand);
    if (typeof epoch === "number" && epoch < session.epoch)
      throw new Fault("STALE_EPOCH", "Another process came with the identity of this hand; the newest counts.");
    const { messages, cursor } = await session.poll(typeof ack === "number" ? ack : undefined, gone);
    return { ok: true, messages, cursor };
  }

  async #take(hand: string, message: JsonObject): Promise<JsonObject> {
    const telling = openEnvelope(message);
    const { id, method, fields } = telling;
    checkAgentMessage(method, fields);
    const named = id === undefined ? {} : { id };
    if (method === "hello") return { ...named, ...(await this.#hello(hand, fields as unknown as Hello)) };
    const session = this.#must(hand);
    session.noteSeen();
    this.#heard(hand, session, telling);
    return { ...named, ok: true };
  }

  #heard(hand: string, session: HttpSession, { method, id, fields }: AgentRequest): void {
    if (method === "action.result") return session.reply(id === undefined ? fields : { ...fields, id });
    if (method === "exec.output") return session.output(fields);
    if (method !== "telemetry.push") throw new Fault("BAD_REQUEST", `${method} is not taken here.`);
    this.#deps.take(hand, telemetryPush(fields, this.#deps.now()));
  }

  /** How to call a hand that listens, if an administrator has allowed the address that it names. */
  async #directTo(hand: string, hello: Hello): Promise<Pick<SessionOptions, "direct">> {
    const { keys, now, log } = this.#deps;
    const url = textIn(hello as unknown as JsonObject, "listen_url");
    if (url === undefined) return {};
    if (await this.#addresses.isAllowed(hand, url)) return { direct: directCall({ hand, url, keys, now }) };
    log("hand.address_refused", { agent_id: hand, url });
    return {};
  }

  async #hello(hand: string, hello: Hello): Promise<JsonObject> {
    if (hello.agent_id !== hand) throw new Fault("FORBIDDEN", "agent_id is not that of the key.");
    const description = await this.#describe(hand, hello);
    const session = new HttpSession({
      ...this.#bounds,
      capabilities: hello.capabilities,
      tools: description.tools,
      ...(await this.#directTo(hand, hello)),
      over: () => {
        if (this.#sessions.get(hand) === session) this.#sessions.delete(hand);
      },
    });
    const link = southboundLink(session, (order) => this.#deps.warrants(hand, order));
    const attached = await this.#deps.hands.attach(description, link, hello.session_epoch);
    this.#sessions.set(hand, session);
    const welcome = session.stand(attached, link, this.#deps.version);
    await this.#sendNextKey(hand, session);
    return { ...welcome, ...receiptFields(hello) } as unknown as JsonObject;
  }

  /** The description of a hand: owner and name come from the record, tools from its hello. */
  async #describe(hand: string, hello: Hello): Promise<HandDescription> {
    const identity = await this.#deps.identities.find(hand);
    if (identity === undefined) throw new Fault("HAND_REVOKED", "This hand is not on record any more.");
    const { tools, refused } = await declaredTools(hello, identity.name, this.#deps.standardTools);
    if (refused.length > 0) this.#deps.log("hand.tools_refused", { agent_id: hand, tools: refused.join(", ") });
    return describeAgent(hello, identity, { gateway: "agent-http", tools });
  }

  async #sendNextKey(hand: string, session: HttpSession): Promise<void> {
    const next = session.capabilities.includes(ROTATE) ? await this.#deps.keys.next(hand) : undefined;
    if (next === undefined) return;
    const { keyid, from, salt } = next;
    session.send({ method: ROTATE, action_id: keyid, key_id: keyid, from_key_id: from, salt });
  }

  #must(hand: string): HttpSession {
    const session = this.#sessions.get(hand);
    if (session === undefined) throw new Fault("HAND_UNAVAILABLE", "This hand is not connected: say hello first.");
    return session;
  }
}

/** The capability by which a hand takes new keys, and the method that gives it one. */
const ROTATE = "key.rotate";
const NO_OBJECT: JsonObject = { ok: false, code: "BAD_REQUEST", error: "A message is a JSON object." };

function refusal(thrown: unknown): JsonObject {
  if (!(thrown instanceof Fault)) throw thrown;
  return { ok: false, code: thrown.code, error: thrown.message };
}

function errorFields(
  { keyid }: VerifiedMessage,
  thrown: unknown,
): { readonly agent_id: string; readonly stack: string } {
  return { agent_id: handOfKey(keyid), stack: thrown instanceof Error ? (thrown.stack ?? "") : String(thrown) };
}
