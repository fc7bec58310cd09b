import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import { EXECUTOR_LIMITS, Fault, FAULTS, REGISTER_LIMITS, isObject, STREAM_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { FaultCode, JsonObject } from "@vidro/core";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";
import type { OpenConnection } from "../redial.ts";

/** Settings of a socket to a brain. */
interface SocketOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly heartbeatMs: number;
  readonly take: (message: ExecutorMessage) => void;
  /** Aborts dialling. */
  readonly signal: AbortSignal;
}

/** Longest reply to a refused upgrade that is read. */
const REFUSAL_CHARS = 4096;

/** A WebSocket to a brain, with heartbeats in both directions. */
export class BrainSocket implements OpenConnection {
  readonly gone: Promise<Fault>;
  readonly #socket: WebSocket;
  readonly #pulse: NodeJS.Timeout;
  #silent = 0;
  /** The last fault that the brain reported. */
  #said: Fault | undefined;

  private constructor(socket: WebSocket, { heartbeatMs, take }: SocketOptions) {
    this.#socket = socket;
    this.#pulse = setInterval(() => this.#beat(), heartbeatMs);
    const lives = (): void => {
      this.#silent = 0;
    };
    socket.on("ping", lives).on("pong", lives);
    socket.on("message", (data) => {
      lives();
      // oxlint-disable-next-line typescript/no-base-to-string -- fragments are not requested, so it is one Buffer
      const message = parseMessage(data.toString());
      if (message?.type === "error") this.#said = readFault(message.payload);
      if (message !== undefined) take(message);
    });
    this.gone = new Promise((resolve) => {
      socket.once("close", (_code, reason) => {
        clearInterval(this.#pulse);
        // A reported fault is the reason of the close only if the close frame names its code.
        const isWhy = this.#said !== undefined && this.#said.code === reason.toString("utf8");
        resolve(isWhy && this.#said !== undefined ? this.#said : new Fault("CONNECTION_LOST"));
      });
    });
  }

  /** Connects; resolves when the socket is open. */
  static async open(options: SocketOptions): Promise<BrainSocket> {
    const { WebSocket } = await import("ws");
    const { promise, resolve, reject } = Promise.withResolvers<BrainSocket>();
    const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    const socket = new WebSocket(options.url, {
      headers,
      perMessageDeflate: false,
      maxPayload: EXECUTOR_LIMITS.toldBytes,
      maxFragments: REGISTER_LIMITS.fragments,
      handshakeTimeout: EXECUTOR_LIMITS.handshakeMs,
      followRedirects: false,
    });
    socket.on("error", (cause) => reject(new Fault("BRAIN_UNREACHABLE", cause.message, { cause })));
    socket.once("unexpected-response", (_request, response) => {
      void readUpgradeRefusal(response)
        .then(reject)
        .finally(() => socket.terminate());
    });
    // Created before the first message can arrive.
    const opened = new BrainSocket(socket, options);
    socket.once("open", () => resolve(opened));
    const giveUp = (): void => socket.terminate();
    options.signal.addEventListener("abort", giveUp, { once: true });
    if (options.signal.aborted) giveUp();
    return promise.finally(() => options.signal.removeEventListener("abort", giveUp));
  }

  /** Sends a message; returns false if the connection has ended. */
  send({ type, payload }: ExecutorMessage): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    this.#socket.send(JSON.stringify({ type, payload }));
    return true;
  }

  /** Sends live output; dropped if too much is unsent. */
  sendLive(message: ExecutorMessage): void {
    if (this.#socket.bufferedAmount < STREAM_LIMITS.unsentBytes) this.send(message);
  }

  /** Closes the connection. */
  close(): void {
    this.#socket.close(NORMAL);
    setTimeout(() => this.#socket.terminate(), REGISTER_LIMITS.closeMs).unref();
  }

  #beat(): void {
    this.#silent += 1;
    if (this.#silent > REGISTER_LIMITS.heartbeatsMissed) return this.#socket.terminate();
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }
}

const NORMAL = 1000;

/** Parses a message; undefined if it is malformed, which is ignored. */
function parseMessage(text: string): ExecutorMessage | undefined {
  try {
    const message = parseJson(text);
    if (!isObject(message)) return undefined;
    const { type, payload = {}, seq } = message;
    if (typeof type !== "string" || !isObject(payload)) return undefined;
    return typeof seq === "number" ? { type, payload, seq } : { type, payload };
  } catch {
    return undefined;
  }
}

function readFault({ code, message, error, retry_after_ms }: JsonObject): Fault {
  const known = typeof code === "string" && Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "BRAIN_UNREACHABLE";
  const words = typeof message === "string" ? message : typeof error === "string" ? error : FAULTS[known].says;
  return new Fault(known, words, typeof retry_after_ms === "number" ? { retryAfterMs: retry_after_ms } : {});
}

/** Why a request did not become a WebSocket. */
async function readUpgradeRefusal(response: IncomingMessage): Promise<Fault> {
  let text = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      text += String(chunk);
      if (text.length > REFUSAL_CHARS) break;
    }
    const said = parseJson(text);
    if (isObject(said) && said["code"] !== undefined) return readFault(said);
  } catch {
    // The server is no brain; only its status is known.
  }
  return new Fault("BRAIN_UNREACHABLE", `It answers with status ${response.statusCode} and opens no WebSocket.`);
}
