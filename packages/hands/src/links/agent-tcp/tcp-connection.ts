import { randomUUIDv7 } from "node:crypto";
import type { Socket } from "node:net";
import { asFault, CODEC_LIMITS, Fault } from "@vidro/core";
import { frameDecoder } from "@vidro/core/codec";
import { NO_ID, TCP_VERSION, tcpRefusal } from "@vidro/core/wire/agent-tcp";
import type { JsonObject } from "@vidro/core";
import type { FrameItem } from "@vidro/core/codec";
import type { TcpHello } from "@vidro/core/wire/agent-tcp";
import type { AuthAttempts } from "./auth-attempts.ts";
import { TokenBucket } from "./token-bucket.ts";
import type { TcpBounds } from "./tcp-bounds.ts";
import type { CommandCall, TcpCommand, CommandContext, TcpSession } from "./command.ts";
import { readEnvelope } from "./envelope.ts";
import type { RequestEnvelope } from "./envelope.ts";
import { FrameWriter } from "./frame-writer.ts";
import type { CommandRegistry } from "./command-registry.ts";

/** Dependencies that all connections of a server share. */
export interface ConnectionContext extends CommandContext {
  readonly registry: CommandRegistry;
  readonly attempts: AuthAttempts;
  readonly bounds: TcpBounds;
  readonly hello: TcpHello;
  /** Receives internal errors with the trace id that the client is sent. */
  readonly report: (traceId: string, thrown: unknown) => void;
}

const NONE: readonly FrameItem[] = [];

/** One client connection: greets, authenticates, and answers requests in the order in which they finish. */
export class TcpConnection {
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  /** Remote address, kept because the socket forgets it after the close. */
  readonly #address: string;
  readonly #decoder = frameDecoder();
  readonly #outbox: FrameWriter;
  readonly #bucket: TokenBucket;
  readonly #gone = new AbortController();
  readonly #orders: CommandCall["orders"] = new Map();
  /** Requests that are answered later, by id. */
  readonly #pending = new Map<string, { readonly command: TcpCommand; readonly done: Promise<void> }>();
  readonly #openedAt = performance.now();
  #session: TcpSession | undefined;
  /** Frames that wait until an exclusive command is answered. */
  #waiting: readonly FrameItem[] = NONE;
  #isHeld = false;
  #maxBytes: number = CODEC_LIMITS.frameBytes;
  #heardAt = this.#openedAt;
  #partSince: number | undefined;
  /** When the client closed its end. */
  #leftAt: number | undefined;
  #endsAt: number | undefined;
  readonly #onDrain = (): void => this.#pump();
  readonly #onRevoked = (): void => this.end(new Fault("INVALID_TOKEN", "The token was revoked."));

  constructor(socket: Socket, context: ConnectionContext) {
    const { bounds, hello } = context;
    this.#socket = socket;
    this.#address = socket.remoteAddress ?? "";
    this.#context = context;
    this.#outbox = new FrameWriter(socket, bounds.unsentBytes);
    this.#bucket = new TokenBucket(bounds.burst, bounds.perSecond);
    socket.setNoDelay(true).setKeepAlive(true, bounds.heartbeatMs);
    socket
      .on("data", (chunk) => this.#read(chunk as Buffer))
      .on("end", () => this.#readEnd())
      .on("drain", this.#onDrain)
      // Every socket error is followed by "close", which is handled below.
      .on("error", () => undefined)
      .on("close", () => this.#close());
    this.#outbox.write({ v: TCP_VERSION, t: "hello", data: hello }, this.#maxBytes);
  }

  /** Whether the connection is not authenticated yet. */
  get isStranger(): boolean {
    return this.#session === undefined;
  }

  /** Ends the connection if one of its deadlines has passed. */
  checkDeadlines(now: number): void {
    const { bounds } = this.#context;
    const { blockedSince } = this.#outbox;
    if (this.#endsAt !== undefined) {
      if (now >= this.#endsAt) this.#socket.destroy();
      return;
    }
    if (this.#leftAt !== undefined && now - this.#leftAt >= bounds.farewellMs) return this.end();
    if (blockedSince !== undefined && now - blockedSince >= bounds.drainMs) this.#socket.destroy();
    else if (this.#session === undefined) {
      if (now - this.#openedAt >= bounds.authMs) this.end(new Fault("AUTH_REQUIRED", "There was no AUTH in time."));
    } else if (this.#session.expiresAt !== null && this.#session.expiresAt <= Date.now())
      this.end(new Fault("TOKEN_EXPIRED"));
    else if (now - this.#heardAt >= bounds.idleMs && this.#pending.size === 0)
      this.end(new Fault("AUTH_REQUIRED", "The session was idle for too long."));
    else this.#lookAtFrame(now);
  }

  /** Sends the reason and closes; further input is dropped, and after `lingerMs` the socket is destroyed. */
  end(why?: Fault): void {
    if (this.#endsAt !== undefined) return;
    if (why !== undefined) this.#refuse(NO_ID, "", why);
    this.#endsAt = performance.now() + this.#context.bounds.lingerMs;
    this.#waiting = NONE;
    this.#outbox.end();
    this.#socket.resume();
  }

  /** Destroys the socket at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Uint8Array): void {
    if (this.#endsAt !== undefined) return;
    const items = this.#decoder.push(chunk);
    if (items.length === 0) return;
    this.#partSince = undefined;
    this.#heardAt = performance.now();
    this.#outbox.writeTogether(() => this.#pump(items));
  }

  /** Handles the end of the client's input; the client may still wait for answers. */
  #readEnd(): void {
    this.#leftAt = performance.now();
    const part = this.#decoder.end();
    this.#pump(part === undefined ? NONE : [part]);
    void this.#waitForAll().then(() => this.end());
  }

  /** Handles waiting frames, then new ones, unless an exclusive command runs or the client does not read its answers. */
  #pump(more: readonly FrameItem[] = NONE): void {
    const frames = this.#waiting.length === 0 ? more : [...this.#waiting, ...more];
    let at = 0;
    while (at < frames.length && !this.#isStuck) this.#take(frames[at++]!);
    this.#waiting = at === frames.length || this.#endsAt !== undefined ? NONE : frames.slice(at);
    if (this.#endsAt !== undefined || this.#isStuck === this.#socket.isPaused()) return;
    if (this.#isStuck) this.#socket.pause();
    else this.#socket.resume();
  }

  get #isStuck(): boolean {
    return this.#isHeld || this.#outbox.isFull || this.#endsAt !== undefined;
  }

  #take(item: FrameItem): void {
    if (!item.ok) {
      const fault = new Fault(item.fault.code, item.fault.message);
      return this.#decoder.closed
        ? this.end(fault)
        : this.#answerLimited(NO_ID, "", () => this.#refuse(NO_ID, "", fault));
    }
    const request = readEnvelope(item.value);
    if (!("fault" in request)) return this.#serve(request);
    const { id, act, fault, last } = request;
    this.#answerLimited(id, act, () => this.#refuse(id, act, fault));
    if (last) this.end();
  }

  #serve(request: RequestEnvelope): void {
    const { registry } = this.#context;
    const { id, act, data } = request;
    try {
      const command = this.#findCommand(act);
      this.#admitOne(id, command);
      registry.check(command, data);
      const answer = command.run(data, this.#callOf(request));
      if (answer instanceof Promise) this.#answerLater(request, command, answer);
      else this.#answer(request, answer);
    } catch (thrown) {
      this.#refuse(id, act, thrown);
    }
  }

  /** The command of an action. All requests except a brain's orders count for the rate limit, even refused ones. */
  #findCommand(act: string): TcpCommand {
    let isOrder = false;
    try {
      const command = this.#context.registry.find(act, this.#session);
      isOrder = command.isExtension === true;
      return command;
    } finally {
      if (!isOrder) this.#spend();
    }
  }

  #answerLater(request: RequestEnvelope, command: TcpCommand, answer: Promise<JsonObject>): void {
    const { id, act } = request;
    if (command.isExclusive === true) this.#isHeld = true;
    const done = answer
      .then(
        (data) => this.#answer(request, data),
        (thrown: unknown) => this.#refuse(id, act, thrown),
      )
      .finally(() => {
        this.#pending.delete(id);
        if (command.isLast === true) return this.end();
        if (command.isExclusive !== true) return;
        this.#isHeld = false;
        this.#pump();
      });
    this.#pending.set(id, { command, done });
  }

  #answer({ id, act }: RequestEnvelope, data: JsonObject): void {
    try {
      this.#outbox.write({ v: TCP_VERSION, t: "res", id, act, data }, this.#maxBytes);
    } catch (thrown) {
      this.#refuse(id, act, thrown);
    }
  }

  #refuse(id: string, act: string, thrown: unknown): void {
    this.#outbox.write(tcpRefusal(id, act, this.#publicFault(thrown).report()), this.#maxBytes);
  }

  /** Replaces an internal error by one with only a trace id, and reports the original. */
  #publicFault(thrown: unknown): Fault {
    const fault = asFault(thrown);
    if (fault.code !== "INTERNAL_ERROR") return fault;
    const traceId = randomUUIDv7();
    this.#context.report(traceId, thrown);
    return new Fault("INTERNAL_ERROR", `The hand itself is at fault (trace ${traceId}).`);
  }

  #callOf({ id, act }: RequestEnvelope): CommandCall {
    return {
      context: this.#context,
      session: this.#session,
      gone: this.#gone.signal,
      orders: this.#orders,
      maxBytes: this.#maxBytes,
      verifyToken: (token) => this.#context.attempts.verify(this.#address, () => this.#context.verify(token)),
      startSession: (session, maxBytes) => this.#admit(session, maxBytes),
      sendOutput: (data) => {
        if (!this.#outbox.isFull) this.#outbox.write({ v: TCP_VERSION, t: "out", id, act, data }, this.#maxBytes);
      },
      waitForOthers: () => this.#waitForOthers(id),
    };
  }

  #admit(session: TcpSession, maxBytes: number | undefined): void {
    if (session.revoked.aborted) throw new Fault("INVALID_TOKEN");
    this.#session?.revoked.removeEventListener("abort", this.#onRevoked);
    this.#session = session;
    this.#decoder.maxBytes = CODEC_LIMITS.frameBytes;
    this.#maxBytes = Math.max(maxBytes ?? 0, CODEC_LIMITS.frameBytes);
    session.revoked.addEventListener("abort", this.#onRevoked, { once: true });
  }

  /** Takes a token of the bucket; throws RATE_LIMITED if there is none. */
  #spend(): void {
    const retryAfterMs = this.#bucket.take();
    if (retryAfterMs === 0) return;
    throw new Fault("RATE_LIMITED", `Too many requests; come back in ${retryAfterMs} ms.`, { retryAfterMs });
  }

  /** Answers a message that is no request, which counts for the rate limit like one. */
  #answerLimited(id: string, act: string, answer: () => void): void {
    try {
      this.#spend();
      answer();
    } catch (thrown) {
      this.#refuse(id, act, thrown);
    }
  }

  #admitOne(id: string, { isExtension }: TcpCommand): void {
    if (this.#pending.has(id))
      throw new Fault("BAD_REQUEST", `The id ${JSON.stringify(id)} belongs to a request that is not answered yet.`);
    const { inFlight, orders } = this.#context.bounds;
    const most = isExtension === true ? orders : inFlight;
    if (this.#pending.size < Math.min(most, inFlight)) return;
    const alike = [...this.#pending.values()].filter(({ command }) => command.isExtension === isExtension).length;
    if (alike < most) return;
    const retryAfterMs = 1000 / this.#context.bounds.perSecond;
    throw new Fault("RATE_LIMITED", `${most} requests wait for their answers; send more when some are there.`, {
      retryAfterMs,
    });
  }

  async #waitForOthers(but?: string): Promise<void> {
    await Promise.all([...this.#pending].flatMap(([id, { done }]) => (id === but ? [] : [done])));
  }

  /** Resolves when all requests are answered, including those that arrive meanwhile. */
  async #waitForAll(): Promise<void> {
    while (this.#pending.size > 0) await this.#waitForOthers();
  }

  /** Ends the connection if a frame was begun and not completed in time. */
  #lookAtFrame(now: number): void {
    if (this.#decoder.end() === undefined) this.#partSince = undefined;
    else this.#partSince ??= now;
    if (this.#partSince === undefined || now - this.#partSince < this.#context.bounds.frameMs) return;
    this.end(new Fault("BAD_REQUEST", "A frame was begun and not ended in time."));
  }

  #close(): void {
    this.#endsAt ??= 0;
    this.#waiting = NONE;
    this.#session?.revoked.removeEventListener("abort", this.#onRevoked);
    this.#gone.abort();
  }
}
