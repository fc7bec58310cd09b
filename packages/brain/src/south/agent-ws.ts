import { randomUUID } from "node:crypto";
import { asFault, Fault, FAULTS, HAND_LIMITS, REGISTER_LIMITS, isObject, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { FaultReport, JsonObject, ToolSpec } from "@vidro/core";
import { openEnvelope, tooLongFault } from "@vidro/core/wire/agent-ws";
import type { Hello, AgentRequest, Welcome } from "@vidro/core/wire/agent-ws";
import type { RawData, WebSocket } from "ws";
import type { Log } from "../observe/log.ts";
import type { TakeSample } from "../observe/telemetry.ts";
import type { IssuedCertificate } from "./enrolment/authority.ts";
import type { CertifiedPeer } from "./enrolment/certified-peer.ts";
import { describeAgent, declaredTools, receiptFields } from "./agent-ws/greeting.ts";
import type { AttachedHand, HandRegister } from "./register/hand-register.ts";
import { southboundLink } from "./agent-ws/southbound-link.ts";
import type { SouthboundLink, SouthboundWire } from "./agent-ws/southbound-link.ts";
import { checkAgentMessage, telemetryPush } from "./agent-ws/message-checks.ts";
import type { Warrants } from "./warrants.ts";

/** Dependencies of the gateway `agent-ws`. */
export interface AgentWsDependencies {
  readonly hands: HandRegister;
  /** Takes the telemetry samples of a hand. */
  readonly take: TakeSample;
  /** Issues the next certificate of a hand that connected with the certificate of that serial number. */
  readonly renew: (hand: string, serial: string, csr: string) => Promise<IssuedCertificate>;
  readonly warrants: Warrants;
  /** Built-in tool specs for hands that list tool names without schemas. */
  readonly standardTools: () => Promise<readonly ToolSpec[]>;
  readonly version: string;
  readonly log: Log;
  readonly now: () => number;
  readonly bounds?: Partial<typeof AGENT_WS_BOUNDS>;
}

/** The bounds of the gateway that tests may change. */
const AGENT_WS_BOUNDS: {
  readonly [Name in "heartbeatMs" | "helloMs" | "rubbish" | "execMs"]: number;
} = {
  heartbeatMs: REGISTER_LIMITS.heartbeatMs,
  helloMs: SOUTHBOUND_LIMITS.helloMs,
  rubbish: SOUTHBOUND_LIMITS.rubbish,
  execMs: HAND_LIMITS.commandCapMs,
};

/** The gateway of hands on WebSockets; called with each connection whose certificate was accepted. */
export function agentWsGateway(deps: AgentWsDependencies): (socket: WebSocket, peer: CertifiedPeer) => void {
  const bounds = { ...AGENT_WS_BOUNDS, ...deps.bounds };
  return (socket, peer) => new Session({ deps, bounds, socket, peer }).start();
}

interface Parts {
  readonly deps: AgentWsDependencies;
  readonly bounds: typeof AGENT_WS_BOUNDS;
  readonly socket: WebSocket;
  readonly peer: CertifiedPeer;
}

/** One connection of a hand, from its hello to its end. */
class Session {
  readonly #parts: Parts;
  readonly #timers: NodeJS.Timeout[] = [];
  #attached: AttachedHand | undefined;
  #link: SouthboundLink | undefined;
  /** Messages that were sent before the welcome; they follow it. */
  #held: JsonObject[] | undefined = [];
  #isGreeting = false;
  #silent = 0;
  #rubbish = 0;
  /** Messages are handled in order, so that a reply does not overtake the output before it. */
  #heard: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const { socket, peer, deps, bounds } = this.#parts;
    socket.on("message", (data, isBinary) => {
      this.#alive();
      this.#next(data, isBinary);
    });
    socket.on("ping", () => this.#alive()).on("pong", () => this.#alive());
    // For example a message over the size limit; `close` follows with the reason.
    socket.on("error", () => undefined).on("close", () => this.#end());
    this.#timers.push(
      setTimeout(() => this.#overdue(), bounds.helloMs),
      setTimeout(() => this.#expire(), peer.expiresAt - deps.now()),
      setInterval(() => this.#beat(), bounds.heartbeatMs),
    );
  }

  #alive(): void {
    this.#silent = 0;
    this.#attached?.seen();
  }

  /** The socket is paused while too many messages wait to be handled. */
  #next(data: RawData, isBinary: boolean): void {
    const { socket } = this.#parts;
    this.#waiting += 1;
    if (this.#waiting === SOUTHBOUND_LIMITS.heardAtOnce) socket.pause();
    this.#heard = this.#heard
      .then(() => this.#hear(data, isBinary))
      // Only a failure to send the answer gets here.
      .catch(() => socket.terminate())
      .finally(() => {
        if (this.#waiting === SOUTHBOUND_LIMITS.heardAtOnce) socket.resume();
        this.#waiting -= 1;
      });
  }

  /** The brain may be the slow one: CONNECTION_LOST lets the hand connect again. */
  #overdue(): void {
    if (!this.#isGreeting) this.#close(new Fault("CONNECTION_LOST", "No hello came in time.").report());
  }

  #expire(): void {
    this.#close(new Fault("CONNECTION_LOST", "The certificate of this connection has expired; come again.").report());
  }

  #beat(): void {
    const { socket } = this.#parts;
    this.#silent += 1;
    if (this.#silent > REGISTER_LIMITS.heartbeatsMissed) return socket.terminate();
    if (socket.readyState === socket.OPEN) socket.ping();
  }

  #end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#attached?.detach();
    this.#link?.drop();
  }

  async #hear(data: RawData, isBinary: boolean): Promise<void> {
    if (this.#parts.socket.readyState !== this.#parts.socket.OPEN) return;
    let message: AgentRequest | undefined;
    try {
      const said = messageIn(data, isBinary);
      const refused = tooLongFault((data as Buffer).length, REGISTER_LIMITS.messageBytes);
      if (isReply(said)) return this.#takeReply(refused === undefined ? said : unread(said, refused));
      message = openEnvelope(said);
      if (refused !== undefined) throw refused;
      checkAgentMessage(message.method, message.fields);
      await this.#handle(message);
    } catch (thrown) {
      this.#refuse(message, asFault(thrown));
    }
  }

  #takeReply(reply: JsonObject): void {
    if (this.#link === undefined) throw notGreeted();
    this.#link.reply(reply);
  }

  async #handle(message: AgentRequest): Promise<void> {
    const { deps, peer } = this.#parts;
    const { method, fields } = message;
    if (method === "hello") return this.#greet(message);
    if (this.#link === undefined) throw notGreeted();
    switch (method) {
      case "exec.output":
        return this.#link.output(fields);
      case "action.result":
        this.#link.reply(fields);
        return this.#reply(message, { ok: true });
      case "telemetry.push":
        deps.take(peer.identity.id, telemetryPush(fields, deps.now()));
        return this.#reply(message, { ok: true });
      case "cert.renew":
        return this.#reply(message, await this.#renew(fields));
      default:
        throw new Fault("BAD_REQUEST", `${method} is not taken here.`);
    }
  }

  async #greet(message: AgentRequest): Promise<void> {
    if (this.#link !== undefined) throw new Fault("CONFLICT", "There was a hello already.");
    this.#isGreeting = true;
    const { deps, peer } = this.#parts;
    const hello = message.fields as unknown as Hello;
    if (hello.agent_id !== peer.identity.id)
      throw new Fault("FORBIDDEN", "The agent_id of a hello is the one in the certificate.");
    const { tools, refused } = await declaredTools(hello, peer.identity.name, deps.standardTools);
    if (refused.length > 0) deps.log("hand.tools_refused", { agent_id: peer.identity.id, tools: refused.join(", ") });
    const link = this.#linkTo(hello, tools);
    const description = describeAgent(hello, peer.identity, { gateway: "agent-ws", tools });
    const attached = await deps.hands.attach(description, link, hello.session_epoch);
    this.#link = link;
    this.#attached = attached;
    if (this.#parts.socket.readyState !== this.#parts.socket.OPEN) return this.#end();
    this.#reply(message, { ...this.#welcome(attached.epoch), ...receiptFields(hello) });
    const held = this.#held ?? [];
    this.#held = undefined;
    // Orders that were made during the hello wait here, since they carry the epoch.
    for (const said of held) this.#send("session_epoch" in said ? { ...said, session_epoch: attached.epoch } : said);
  }

  #linkTo({ capabilities }: Hello, tools: readonly ToolSpec[]): SouthboundLink {
    const epochOf = (): number => this.#attached?.epoch ?? 0;
    const { deps, peer } = this.#parts;
    const wire: SouthboundWire = {
      capabilities,
      tools,
      get epoch() {
        return epochOf();
      },
      close: (why) => this.#close(why),
      send: (message) => {
        if (deps.now() >= peer.expiresAt) this.#expire();
        if (this.#held === undefined) return this.#send(message);
        if (this.#held.length >= REGISTER_LIMITS.acknowledgements) throw new Fault("HAND_UNAVAILABLE");
        this.#held.push(message);
      },
    };
    return southboundLink(wire, (order) => deps.warrants(peer.identity.id, order));
  }

  #welcome(epoch: number): Welcome {
    return {
      ok: true,
      policy: { timeouts: { exec: this.#parts.bounds.execMs }, max_payload: REGISTER_LIMITS.messageBytes },
      session_epoch: epoch,
      server_version: this.#parts.deps.version,
    };
  }

  async #renew(fields: JsonObject): Promise<JsonObject> {
    const { deps, peer } = this.#parts;
    const csr = textIn(fields, "csr") ?? "";
    const { certificate } = await deps.renew(peer.identity.id, peer.serial, csr);
    return { ok: true, certificate };
  }

  #refuse(message: AgentRequest | undefined, fault: Fault): void {
    const { bounds, deps, peer } = this.#parts;
    const isOurs = FAULTS[fault.code].fate === "bug";
    const traceId = randomUUID();
    if (isOurs) deps.log("hand.message_faulted", { trace_id: traceId, stack: fault.stack ?? "" });
    const { code, message: error } = isOurs ? new Fault("INTERNAL_ERROR", `Vidro is at fault (${traceId}).`) : fault;
    this.#reply(message, { ok: false, error, code });
    this.#rubbish += 1;
    const isStranger = this.#attached === undefined;
    if (!isStranger && this.#rubbish < bounds.rubbish) return;
    deps.log("hand.hung_up", { agent_id: peer.identity.id, code, reason: error });
    this.#close(isStranger ? fault.report() : { code: "RATE_LIMITED", message: "Too many malformed messages came." });
  }

  #reply(message: AgentRequest | undefined, reply: JsonObject | Welcome): void {
    const action = message?.fields["action_id"];
    this.#send({
      ...(message?.id === undefined ? {} : { id: message.id }),
      ...(typeof action === "string" ? { action_id: action } : {}),
      ...(reply as JsonObject),
    });
  }

  #send(message: JsonObject): void {
    const { socket } = this.#parts;
    if (socket.readyState !== socket.OPEN) throw new Fault("HAND_UNAVAILABLE", "The connection to it is lost.");
    const text = JSON.stringify(message);
    const refused = tooLongFault(Buffer.byteLength(text), REGISTER_LIMITS.messageBytes);
    if (refused !== undefined) throw refused;
    socket.send(text);
    if (socket.bufferedAmount <= SOUTHBOUND_LIMITS.unsentBytes) return;
    socket.terminate();
    throw new Fault("HAND_UNAVAILABLE", "It does not read what it is sent.");
  }

  /** The reason of the close is a fault code, by which the hand decides whether to connect again. */
  #close({ code }: FaultReport): void {
    this.#parts.socket.close(CLOSED + FAULTS[code].http, code);
  }
}

/** Close codes are HTTP statuses moved into the range for applications. */
const CLOSED = 4000;

function messageIn(data: RawData, isBinary: boolean): JsonObject {
  if (isBinary) throw new Fault("BAD_REQUEST", "A message is a text.");
  const said = parseJson((data as Buffer).toString("utf8"));
  if (!isObject(said)) throw new Fault("BAD_REQUEST", "A message is an object.");
  return said;
}

/** Whether a message is a reply: it has no method. A malformed one still ends the call that it names. */
function isReply(said: JsonObject): boolean {
  const isNamed = textIn(said, "id") !== undefined || textIn(said, "action_id") !== undefined;
  const asks = textIn(said, "method") !== undefined || textIn(said, "type") !== undefined;
  return !asks && (isNamed || typeof said["ok"] === "boolean");
}

/** Stands in for a reply over the size limit: the action was carried out, and its outcome is unknown. */
function unread({ id, action_id }: JsonObject, { message: error }: Fault): JsonObject {
  const named = Object.entries({ id, action_id }).filter(([, name]) => name !== undefined);
  return { ...Object.fromEntries(named), ok: false, code: "OUTCOME_UNKNOWN", error };
}

function notGreeted(): Fault {
  return new Fault("BAD_REQUEST", "The first message of a hand is its hello.");
}
