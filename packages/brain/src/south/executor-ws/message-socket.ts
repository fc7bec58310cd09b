import type { RawData, WebSocket } from "ws";
import { asFault, Fault, REGISTER_LIMITS, isObject, STREAM_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { FaultReport, JsonObject } from "@vidro/core";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";

/** Gets what comes in on a socket. */
interface MessageListener {
  /** A message came. */
  onMessage(type: string, payload: JsonObject): void;
  /** A frame came that is no message. */
  onMalformed(fault: Fault): void;
  /** A frame of any kind came: the peer is alive. */
  onSign(): void;
  /** The socket is closed. */
  onClose(): void;
}

const GOING_AWAY = 1001;
const REFUSED = 1008;

/** Messages of 004 over one WebSocket, with heartbeats. A peer that misses too many is cut off. */
export class MessageSocket {
  readonly #socket: WebSocket;
  readonly #listener: MessageListener;
  readonly #heartbeat: NodeJS.Timeout;
  #missed = 0;
  #isClosing = false;

  constructor(socket: WebSocket, listener: MessageListener, heartbeatMs: number) {
    this.#socket = socket;
    this.#listener = listener;
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    const onSign = (): void => {
      this.#missed = 0;
      listener.onSign();
    };
    socket.on("message", (data, isBinary) => {
      onSign();
      this.#receive(data, isBinary);
    });
    socket.on("ping", onSign).on("pong", onSign);
    // `close` follows, which ends the connection.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearInterval(this.#heartbeat);
      listener.onClose();
    });
  }

  /** Sends a message; drops it when the socket is not open. */
  send({ type, payload, seq }: ExecutorMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(JSON.stringify(seq === undefined ? { type, payload } : { type, payload, seq }));
  }

  /** Resolves when the peer has read enough of what was sent to get more; one that reads nothing is cut off. */
  async whenDrained(): Promise<void> {
    if (this.#socket.bufferedAmount <= STREAM_LIMITS.unsentBytes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cut = setTimeout(() => this.#socket.terminate(), STREAM_LIMITS.drainMs);
    // A ping queues behind everything that waits to be sent, so that its callback means that all of it is out.
    this.#socket.ping(undefined, undefined, () => resolve());
    await promise;
    clearTimeout(cut);
  }

  /** Reads no more messages until resume(). */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads messages again. */
  resume(): void {
    this.#socket.resume();
  }

  /** Sends a fault; the connection stays. */
  sendFault({ code, message, retryAfterMs }: FaultReport): void {
    const again = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs };
    this.send({ type: "error", payload: { code, message, ...again } });
  }

  /** Sends a fault and closes the connection. */
  hangUp(why: FaultReport): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.sendFault(why);
    this.#socket.close(why.code === "SHUTTING_DOWN" ? GOING_AWAY : REFUSED, why.code);
    setTimeout(() => this.#socket.terminate(), REGISTER_LIMITS.closeMs).unref();
  }

  #beat(): void {
    this.#missed += 1;
    if (this.#missed > REGISTER_LIMITS.heartbeatsMissed) return this.#socket.terminate();
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isClosing) return;
    try {
      if (isBinary) throw new Fault("BAD_REQUEST", "A message is JSON in a text frame.");
      // `ws` gives a text frame as one buffer unless it is asked for fragments.
      // oxlint-disable-next-line typescript/no-base-to-string -- the only kind of RawData here is Buffer
      const message = parseJson(data.toString());
      const { type, payload = {} } = isObject(message) ? message : {};
      if (typeof type !== "string" || !isObject(payload))
        throw new Fault("BAD_REQUEST", 'A message is {"type": …, "payload": {…}}.');
      this.#listener.onMessage(type, payload);
    } catch (thrown) {
      this.#listener.onMalformed(asFault(thrown));
    }
  }
}
