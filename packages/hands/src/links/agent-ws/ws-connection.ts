import { randomUUID, X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import {
  asFault,
  Fault,
  FAULTS,
  isObject,
  LONGEST_TIMER_MS,
  REGISTER_LIMITS,
  SOUTHBOUND_LIMITS,
  textIn,
} from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { FaultCode, JsonObject } from "@vidro/core";
import { tooLongFault } from "@vidro/core/wire/agent-ws";
import type { Hello, Welcome } from "@vidro/core/wire/agent-ws";
import { WebSocket } from "ws";
import type { RawData } from "ws";
import { newKeyAndRequest } from "../../enrol/csr.ts";
import type { HandIdentity } from "../../enrol/hand-state-folder.ts";
import { readRefusal } from "../../enrol/join.ts";
import type { OpenConnection } from "../redial.ts";

/** A brain's reply to hello; brains that implement only the contract send no session epoch. */
type HelloReply = Pick<Welcome, "policy"> & Partial<Pick<Welcome, "session_epoch" | "receipts">>;

/** Settings of one connection to a brain. */
interface WsConnectionOptions {
  readonly identity: HandIdentity;
  readonly bounds: { readonly [Name in "heartbeatMs" | "telemetryMs" | "dialMs" | "answerMs"]: number };
  readonly hello: Hello;
  /** Receives the brain's requests. */
  readonly receive: (message: JsonObject) => void;
  readonly sample: () => JsonObject | undefined;
  /** Stores a new key and certificate. */
  readonly renewed: (credentials: Pick<HandIdentity, "key" | "certificate">) => Promise<unknown>;
}

const SETTINGS = {
  minVersion: "TLSv1.3",
  perMessageDeflate: false,
  maxPayload: REGISTER_LIMITS.readBytes,
  maxFragments: REGISTER_LIMITS.fragments,
  closeTimeout: SOUTHBOUND_LIMITS.closeMs,
} as const;

/** One connection to a brain, over mutual TLS 1.3. */
export class WsConnection implements OpenConnection {
  readonly gone: Promise<Fault>;
  readonly #options: WsConnectionOptions;
  readonly #socket: WebSocket;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Receivers of replies to this hand's requests, by request id. */
  readonly #asked = new Map<string, (reply: JsonObject) => void>();
  #silent = 0;
  #isGreeted = false;

  constructor(options: WsConnectionOptions) {
    this.#options = options;
    const { identity, bounds } = options;
    const { ca, certificate: cert, key } = identity;
    this.#socket = new WebSocket(identity.url, { ...SETTINGS, ca, cert, key, handshakeTimeout: bounds.dialMs });
    this.gone = this.#watchEnd();
    this.#socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    this.#socket.on("ping", () => (this.#silent = 0)).on("pong", () => (this.#silent = 0));
  }

  /** Connects and says hello; returns the brain's reply. */
  async greet(): Promise<HelloReply> {
    await this.#first(once(this.#socket, "open"), this.#options.bounds.dialMs);
    const reply = await this.#ask({ ...this.#options.hello } as unknown as JsonObject);
    this.#isGreeted = true;
    if (isWelcome(reply)) return reply;
    throw readRefusal(reply) ?? new Fault("BRAIN_UNREACHABLE", "What answers is no brain of this version.");
  }

  /** Sends a ping; resolves with the brain's pong. */
  async heartbeat(): Promise<void> {
    const pong = once(this.#socket, "pong");
    this.#socket.ping();
    await this.#first(pong);
  }

  /** Starts heartbeats, telemetry and the renewal of the certificate. */
  startTimers(): void {
    const { bounds } = this.#options;
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#timers.push(
      setInterval(() => this.#beat(), bounds.heartbeatMs),
      setInterval(() => this.#sendSample(), bounds.telemetryMs),
    );
    this.#renewWhenDue();
    this.#sendSample();
  }

  /** Sends a message; false without a connection. Live output is dropped if the brain reads too slowly. */
  send(message: JsonObject): boolean {
    const socket = this.#socket;
    if (socket.readyState !== WebSocket.OPEN) return false;
    if (message["method"] === "exec.output" && socket.bufferedAmount > REGISTER_LIMITS.messageBytes) return false;
    socket.send(JSON.stringify(message));
    return true;
  }

  /** Closes the connection. */
  close(): void {
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.terminate();
    else this.#socket.close(NORMAL);
  }

  /** Resolves with the reason of the end: the brain's close reason or refusal, or a network error. */
  #watchEnd(): Promise<Fault> {
    const { promise, resolve } = Promise.withResolvers<Fault>();
    const socket = this.#socket;
    const end = (why: Fault): void => {
      for (const timer of this.#timers) clearTimeout(timer);
      resolve(why);
    };
    socket.on("error", (error) => end(new Fault("BRAIN_UNREACHABLE", error.message, { cause: error })));
    socket.on("close", (_, reason) => end(closeFault(reason.toString("utf8"))));
    socket.on("unexpected-response", (request, response: IncomingMessage) => {
      void readUpgradeRefusal(response)
        .then(end)
        .finally(() => request.destroy());
    });
    return promise;
  }

  /** Waits for a promise; rejects if the connection ends first or the time is over. */
  async #first<Value>(awaited: Promise<Value>, ms = this.#options.bounds.answerMs): Promise<Value> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Fault("BRAIN_UNREACHABLE", "The brain did not answer in time.")),
      ms,
    );
    awaited.catch(() => undefined);
    const ended = this.gone.then((why) => Promise.reject(why));
    return Promise.race([awaited.catch(() => ended), ended, late.promise]).finally(() => clearTimeout(timer));
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#silent = 0;
    const message = isBinary ? undefined : parseObject((data as Buffer).toString("utf8"));
    if (message === undefined) return void this.send({ ok: false, code: "BAD_REQUEST", error: "That is no message." });
    const isReply = typeof message["ok"] === "boolean" && message["method"] === undefined;
    const refused = tooLongFault((data as Buffer).length, REGISTER_LIMITS.messageBytes);
    if (!isReply && refused !== undefined) return this.#refuse(message, refused);
    if (!isReply) return this.#options.receive(message);
    // A brain that implements only the contract echoes no id; its first reply is that to hello.
    const id = textIn(message, "id") ?? (this.#isGreeted ? "" : [...this.#asked.keys()][0]) ?? "";
    this.#asked.get(id)?.(message);
    this.#asked.delete(id);
  }

  #refuse({ id, action_id }: JsonObject, { code, message: error }: Fault): void {
    const named = Object.entries({ id, action_id }).filter(([, name]) => typeof name === "string");
    this.send({ ...Object.fromEntries(named), ok: false, code, error });
  }

  async #ask(message: JsonObject): Promise<JsonObject> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    this.#asked.set(id, resolve);
    this.send({ ...message, id });
    return this.#first(promise).finally(() => this.#asked.delete(id));
  }

  #beat(): void {
    this.#silent += 1;
    if (this.#silent > REGISTER_LIMITS.heartbeatsMissed) return this.#socket.terminate();
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #sendSample(): void {
    const payload = this.#options.sample();
    if (payload === undefined) return;
    this.send({ method: "telemetry.push", action_id: randomUUID(), payload, ts: new Date().toISOString() });
  }

  /** Renews the certificate when that is due; a timer takes a delay that is too long for it for none. */
  #renewWhenDue(): void {
    const waitMs = Math.max(0, renewalTime(this.#options.identity.certificate) - Date.now());
    const wake = waitMs > LONGEST_TIMER_MS ? () => this.#renewWhenDue() : () => void this.#renew();
    this.#timers.push(setTimeout(wake, Math.min(waitMs, LONGEST_TIMER_MS)));
  }

  /** Renews the certificate; retries until the connection ends. */
  async #renew(): Promise<void> {
    const { identity, renewed, bounds } = this.#options;
    try {
      const { key, csr } = newKeyAndRequest(identity.name);
      const reply = await this.#ask({ method: "cert.renew", action_id: randomUUID(), csr });
      const certificate = textIn(reply, "certificate");
      if (reply["ok"] !== true || certificate === undefined) throw readRefusal(reply) ?? new Fault("BRAIN_UNREACHABLE");
      await renewed({ key, certificate });
    } catch {
      if (this.#socket.readyState !== WebSocket.OPEN) return;
      this.#timers.push(setTimeout(() => void this.#renew(), bounds.telemetryMs));
    }
  }
}

/** WebSocket close code: normal closure. */
const NORMAL = 1000;
const REFUSAL_CHARS = 16 * 1024;

/** The time to renew a certificate: after two thirds of its life. */
function renewalTime(certificate: string): number {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return from + ((to - from) * 2) / 3;
}

function closeFault(reason: string): Fault {
  if (!Object.hasOwn(FAULTS, reason)) return new Fault("CONNECTION_LOST");
  const code = reason as FaultCode;
  return new Fault(code, `The brain hung up: ${FAULTS[code].says}`);
}

async function readUpgradeRefusal(response: IncomingMessage): Promise<Fault> {
  let text = "";
  try {
    response.setEncoding("utf8");
    for await (const chunk of response as AsyncIterable<string>) {
      text += chunk;
      if (text.length > REFUSAL_CHARS) break;
    }
  } catch (thrown) {
    return asFault(thrown, "BRAIN_UNREACHABLE");
  }
  const plain = new Fault("BRAIN_UNREACHABLE", `What answers says ${response.statusCode} and is no brain.`);
  return readRefusal(parseObject(text)) ?? plain;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWelcome(reply: JsonObject): reply is JsonObject & HelloReply {
  const { policy, session_epoch: epoch } = reply;
  const isPolicy = isObject(policy) && isObject(policy["timeouts"]) && typeof policy["max_payload"] === "number";
  return reply["ok"] === true && isPolicy && (epoch === undefined || typeof epoch === "number");
}
