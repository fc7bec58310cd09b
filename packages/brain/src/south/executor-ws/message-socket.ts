import type { RawData, WebSocket } from "ws";
import { asFault, Fault, REGISTER_LIMITS, isObject, STREAM_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { FaultReport, JsonObject } from "@vidro/core";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";

/** Who hears what comes in on a channel. */
export interface Listener {
  /** A message came. */
  take(type: string, payload: JsonObject): void;
  /** What came is no message. */
  misheard(fault: Fault): void;
  /** The other end showed that it lives. */
  seen(): void;
  /** The connection is gone; nothing more comes. */
  gone(): void;
}

/** How long a peer that was hung up on may take to leave by itself. */
const PARTING_MS = 500;
const GOING_AWAY = 1001;
const REFUSED = 1008;

/** Messages of 004 over one WebSocket, with a pulse both ways. */
export class Channel {
  readonly #socket: WebSocket;
  readonly #listener: Listener;
  readonly #pulse: NodeJS.Timeout;
  #silent = 0;
  #leaving = false;

  constructor(socket: WebSocket, listener: Listener, heartbeatMs: number) {
    this.#socket = socket;
    this.#listener = listener;
    this.#pulse = setInterval(() => this.#beat(), heartbeatMs);
    const lives = (): void => {
      this.#silent = 0;
      listener.seen();
    };
    socket.on("message", (data, isBinary) => {
      lives();
      this.#receive(data, isBinary);
    });
    socket.on("ping", lives).on("pong", lives);
    // The end that follows says all that matters.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearInterval(this.#pulse);
      listener.gone();
    });
  }

  /** Sends a message; one to a peer that is gone is dropped. */
  send({ type, payload, seq }: ExecutorMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(JSON.stringify(seq === undefined ? { type, payload } : { type, payload, seq }));
  }

  /** Resolves when the peer has taken enough of what was sent to be sent more; one that takes nothing is cut off. */
  async drained(): Promise<void> {
    if (this.#socket.bufferedAmount <= STREAM_LIMITS.unsentBytes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const impatience = setTimeout(() => this.#socket.terminate(), STREAM_LIMITS.drainMs);
    // Pings are sent behind what is waiting, so that this one is out when all of it is.
    this.#socket.ping(undefined, undefined, () => resolve());
    await promise;
    clearTimeout(impatience);
  }

  /** Takes no more messages until it is told to. */
  pause(): void {
    this.#socket.pause();
  }

  /** Takes messages again. */
  resume(): void {
    this.#socket.resume();
  }

  /** Says what was wrong with a message, and goes on. */
  complain({ code, message, retryAfterMs }: FaultReport): void {
    const again = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs };
    this.send({ type: "error", payload: { code, message, ...again } });
  }

  /** Says why, and hangs up. */
  hangUp(why: FaultReport): void {
    if (this.#leaving) return;
    this.#leaving = true;
    this.complain(why);
    this.#socket.close(why.code === "SHUTTING_DOWN" ? GOING_AWAY : REFUSED, why.code);
    setTimeout(() => this.#socket.terminate(), PARTING_MS).unref();
  }

  #beat(): void {
    this.#silent += 1;
    if (this.#silent > REGISTER_LIMITS.heartbeatsMissed) return this.#socket.terminate();
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#leaving) return;
    try {
      if (isBinary) throw new Fault("BAD_REQUEST", "A message is JSON in a text frame.");
      // A text frame is one buffer: nobody asked for fragments.
      // oxlint-disable-next-line typescript/no-base-to-string -- of the three kinds of data only Buffer comes here
      const message = parseJson(data.toString());
      const { type, payload = {} } = isObject(message) ? message : {};
      if (typeof type !== "string" || !isObject(payload))
        throw new Fault("BAD_REQUEST", 'A message is {"type": …, "payload": {…}}.');
      this.#listener.take(type, payload);
    } catch (thrown) {
      this.#listener.misheard(asFault(thrown));
    }
  }
}
