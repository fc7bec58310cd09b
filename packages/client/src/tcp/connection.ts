import { once } from "node:events";
import type { Socket } from "node:net";
import { asFault, CODEC_LIMITS, isObject, LONGEST_TIMER_MS, TCP_LIMITS } from "@vidro/core";
import { encodeFrame, frameDecoder } from "@vidro/core/codec";
import { NO_ID, TCP_VERSION } from "@vidro/core/wire/agent-tcp";
import type { JsonObject } from "@vidro/core";
import type { FrameDecoder, FrameItem } from "@vidro/core/codec";
import type { TcpErrorCode, TcpHello } from "@vidro/core/wire/agent-tcp";
import { TcpError } from "./error.ts";

/** Options of a connection. */
interface AgentTcpConnectionOptions {
  readonly heartbeatMs?: number;
  readonly maxFrame?: number;
  /** Called whenever something arrives. */
  readonly onHeard?: () => void;
}

/** A socket, and the facts that its greeting gave. */
interface GreetedSocket {
  readonly hello: TcpHello;
  readonly decoder: FrameDecoder;
  readonly options: AgentTcpConnectionOptions;
}

interface PendingRequest {
  readonly act: string;
  readonly hear?: ((data: JsonObject) => void) | undefined;
  readonly timer: NodeJS.Timeout;
  resolve(data: JsonObject): void;
  reject(why: TcpError): void;
}

/** One connection after its greeting. Each request is answered once, or rejected when the connection is gone. */
export class AgentTcpConnection {
  readonly hello: TcpHello;
  readonly #socket: Socket;
  readonly #pending = new Map<string, PendingRequest>();
  readonly #heart: NodeJS.Timeout;
  readonly #onHeard: (() => void) | undefined;
  #goneHeard: ((why: TcpError) => void) | undefined;
  #next = 0;
  #unanswered = 0;
  /** The last error without a request id: why the server closed the connection. */
  #lastWord: TcpError | undefined;
  #gone: TcpError | undefined;

  private constructor(socket: Socket, { hello, decoder, options }: GreetedSocket) {
    this.hello = hello;
    this.#socket = socket;
    this.#onHeard = options.onHeard;
    // A greeting may not make this end hold frames of any size.
    const greeted = Math.min(hello.maxFrame, TCP_LIMITS.answerBytes);
    decoder.maxBytes = Math.max(options.maxFrame ?? 0, greeted, CODEC_LIMITS.frameBytes);
    const beatMs = Math.min(options.heartbeatMs ?? hello.heartbeat, LONGEST_TIMER_MS);
    this.#heart = setInterval(() => this.#beat(), beatMs).unref();
    socket.on("data", (chunk) => this.#read(decoder.push(chunk as Buffer)));
    socket.on("close", () => this.#end(this.#lastWord ?? connectionCut()));
    // The greeting was read piece by piece.
    socket.resume();
  }

  /** Waits for the greeting; CONNECTION when it does not come in time, BAD_REQUEST for another version. */
  static async open(socket: Socket, options: AgentTcpConnectionOptions): Promise<AgentTcpConnection> {
    let why: Error | undefined;
    socket.on("error", (error) => (why = error));
    const decoder = frameDecoder(CODEC_LIMITS.frameBytes);
    const timer = setTimeout(() => socket.destroy(new Error("there was no greeting in time")), TCP_LIMITS.connectMs);
    try {
      const { hello, rest } = await readGreeting(socket, decoder);
      const connection = new AgentTcpConnection(socket, { hello, decoder, options });
      connection.#read(rest);
      return connection;
    } catch (thrown) {
      socket.destroy();
      if (thrown instanceof TcpError) throw thrown;
      throw new TcpError("CONNECTION", `There is no agent: ${(why ?? asFault(thrown)).message}.`, { cause: thrown });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Calls `hear` once, when the connection is gone. */
  onGone(hear: (why: TcpError) => void): void {
    if (this.#gone === undefined) this.#goneHeard = hear;
    else hear(this.#gone);
  }

  /** Sends a request and waits for its answer. */
  request(
    act: string,
    data: JsonObject,
    { deadlineMs, hear }: { readonly deadlineMs: number; readonly hear?: (data: JsonObject) => void },
  ): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone);
      if (this.#pending.size >= TCP_LIMITS.pending)
        return reject(new TcpError("RATE_LIMITED", `${TCP_LIMITS.pending} requests wait for their answers already.`));
      const id = `c${(this.#next += 1)}`;
      const timer = setTimeout(
        () => {
          this.#pending.delete(id);
          reject(new TcpError("CONNECTION", `${act} was not answered in ${Math.round(deadlineMs)} ms.`));
        },
        Math.min(deadlineMs, LONGEST_TIMER_MS),
      );
      this.#pending.set(id, { act, hear, timer, resolve, reject });
      this.#send(id, act, data);
    });
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#end(new TcpError("CONNECTION", "This client was closed."));
    if (this.#socket.destroyed) return;
    const closed = once(this.#socket, "close").catch(() => undefined);
    this.#socket.end();
    const impatience = setTimeout(() => this.#socket.destroy(), TCP_LIMITS.lingerMs);
    await closed;
    clearTimeout(impatience);
  }

  #send(id: string, act: string, data: JsonObject): void {
    try {
      this.#socket.write(encodeFrame({ v: TCP_VERSION, t: "req", id, act, data }, this.hello.maxFrame));
    } catch (thrown) {
      const pending = this.#take(id);
      pending?.reject(new TcpError("PAYLOAD_TOO_LARGE", asFault(thrown).message, { cause: thrown }));
    }
  }

  #read(items: readonly FrameItem[]): void {
    if (items.length > 0) {
      this.#unanswered = 0;
      this.#onHeard?.();
    }
    for (const item of items) {
      if (!item.ok) return void this.#socket.destroy(new Error(item.fault.message));
      if (isObject(item.value)) this.#takeMessage(item.value);
    }
  }

  #takeMessage(message: JsonObject): void {
    const { t, id, data, code, msg, retryAfterMs } = message;
    if (message["v"] !== TCP_VERSION) return this.#fail(versionError(message["v"]));
    const body = isObject(data) ? data : {};
    if (t === "out" && typeof id === "string") return this.#pending.get(id)?.hear?.(body);
    const pending = typeof id === "string" ? this.#take(id) : undefined;
    if (t === "res") return pending?.resolve(body);
    if (t !== "err") return;
    const wait = typeof retryAfterMs === "number" ? retryAfterMs : undefined;
    const error = new TcpError(code as TcpErrorCode, typeof msg === "string" ? msg : "", { retryAfterMs: wait });
    if (pending !== undefined) pending.reject(error);
    // The answer to a request that was given up, or to a heartbeat, says nothing of the connection.
    else if (typeof id !== "string" || id === NO_ID) this.#lastWord = error;
  }

  #take(id: string): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  /** Sends a heartbeat; a server that leaves several unanswered counts as gone. */
  #beat(): void {
    if (this.#unanswered >= TCP_LIMITS.heartbeatsMissed)
      return this.#fail(new TcpError("CONNECTION", "The agent does not answer any more."));
    this.#unanswered += 1;
    this.#send(`hb${(this.#next += 1)}`, "PING", {});
  }

  #fail(why: TcpError): void {
    this.#end(why);
    this.#socket.destroy();
  }

  #end(why: TcpError): void {
    if (this.#gone !== undefined) return;
    this.#gone = why;
    clearInterval(this.#heart);
    for (const id of this.#pending.keys()) {
      const pending = this.#take(id);
      pending?.reject(new TcpError("CONNECTION", `${pending.act}: ${why.message}`, { cause: why }));
    }
    this.#goneHeard?.(why);
  }
}

async function readGreeting(
  socket: Socket,
  decoder: FrameDecoder,
): Promise<{ readonly hello: TcpHello; readonly rest: readonly FrameItem[] }> {
  for (;;) {
    const chunk = await nextChunk(socket);
    const [first, ...rest] = decoder.push(chunk);
    if (first !== undefined) return { hello: helloOf(first), rest };
  }
}

function nextChunk(socket: Socket): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      socket.pause().off("data", onData).off("close", onClose);
    };
    const onData = (chunk: Uint8Array | string): void => {
      done();
      resolve(chunk as Uint8Array);
    };
    const onClose = (): void => {
      done();
      reject(connectionCut());
    };
    socket.on("data", onData).on("close", onClose).resume();
  });
}

function helloOf(item: FrameItem): TcpHello {
  if (!item.ok) throw new TcpError("CONNECTION", `What answers is no agent: ${item.fault.message}`);
  const message = isObject(item.value) ? item.value : {};
  if (message["v"] !== TCP_VERSION) throw versionError(message["v"]);
  const { maxFrame, heartbeat, ...more } = isObject(message["data"]) ? message["data"] : {};
  return {
    ...more,
    maxFrame: typeof maxFrame === "number" && maxFrame > 0 ? maxFrame : CODEC_LIMITS.frameBytes,
    heartbeat: typeof heartbeat === "number" && heartbeat > 0 ? heartbeat : TCP_LIMITS.heartbeatMs,
  };
}

function versionError(version: unknown): TcpError {
  const said = JSON.stringify(version) ?? "none";
  return new TcpError("BAD_REQUEST", `The agent speaks version ${said}; this client speaks ${TCP_VERSION}.`);
}

function connectionCut(): TcpError {
  return new TcpError("CONNECTION", "The connection was cut.");
}
