import { CLIENT_LIMITS, deferred, TCP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { TcpHello } from "@vidro/core/wire/agent-tcp";
import { TcpError } from "./tcp/error.ts";
import { dialTcp } from "./tcp/dial.ts";
import type { TcpAddress } from "./tcp/dial.ts";
import { AgentTcpConnection } from "./tcp/connection.ts";

export { TcpError } from "./tcp/error.ts";
export type { TcpAddress } from "./tcp/dial.ts";

/** Whom to talk to, and how patiently. */
export interface TcpClientOptions extends TcpAddress {
  /** Shown on every connection, also after a cut; without one, `auth` shows it. */
  readonly token?: string;
  /** Wait for an answer. */
  readonly deadlineMs?: number;
  /** How often to show that we live; default: as the server wishes. */
  readonly heartbeatMs?: number;
  /** Whether a connection that was cut is made again. */
  readonly reconnect?: boolean;
  /** First rest before another try, doubled each time. */
  readonly backoffMs?: number;
  /** The longest frame that we take in answer; a server that does not know of it keeps to its own. */
  readonly maxFrame?: number;
  /** Told when there is a session again, with what AUTH gave, and when the connection is gone. */
  readonly onUp?: (session: JsonObject, hello: TcpHello) => void;
  readonly onDown?: (why: TcpError) => void;
  /** Told whenever something comes from the server. */
  readonly onHeard?: () => void;
  /** Told when a server that we come back to refuses us, after which it is not tried again. */
  readonly onRefused?: (why: unknown) => void;
}

/** What a request may be told besides its data. */
export interface RequestOptions {
  readonly deadlineMs?: number;
  /** Gets live output, where the server tells it. */
  readonly hear?: (data: JsonObject) => void;
}

/**
 * A client of the TCP agent protocol, version 1. After a cut it connects and authenticates anew by itself. A request
 * that was on its way at the cut rejects with CONNECTION and is never sent again: who asked knows whether it may be.
 */
export class TcpClient {
  readonly #options: TcpClientOptions;
  #token: string | undefined;
  #connection: Promise<AgentTcpConnection> | undefined;
  #session: JsonObject | undefined;
  #closed = false;
  /** Why there is no connection, and will be none. */
  #over: TcpError | undefined;
  #resting: { readonly timer: NodeJS.Timeout; readonly wake: () => void } | undefined;

  constructor(options: TcpClientOptions) {
    this.#options = options;
    this.#token = options.token;
  }

  /** Connects, checks the version, and authenticates when there is a token; gives the server's greeting. */
  async connect(): Promise<TcpHello> {
    this.#connection ??= this.#open();
    this.#connection.catch(() => (this.#connection = undefined));
    return (await this.#connection).hello;
  }

  /** Shows a token: what the session may do. It is shown again by itself after a cut. */
  async auth(token: string): Promise<JsonObject> {
    const session = await this.#authenticate(await this.#up(), token);
    this.#token = token;
    return session;
  }

  /** What AUTH gave last. */
  get session(): JsonObject | undefined {
    return this.#session;
  }

  /**
   * Asks for an action and gives its answer; rejects with a TcpError. While the connection is being made again it
   * waits for that, but not beyond its deadline.
   */
  async request(act: string, data: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    const deadlineMs = options.deadlineMs ?? this.#options.deadlineMs ?? TCP_LIMITS.requestMs;
    const begun = performance.now();
    const connection = await withDeadline(this.#up(), deadlineMs);
    const left = deadlineMs - (performance.now() - begun);
    return connection.request(act, data, { ...options, deadlineMs: Math.max(left, 1) });
  }

  /** Hangs up; what is on its way rejects with CONNECTION. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#resting?.timer);
    this.#resting?.wake();
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  async #up(): Promise<AgentTcpConnection> {
    if (this.#closed) throw new TcpError("CONNECTION", "This client was closed.");
    if (this.#over !== undefined) throw new TcpError("CONNECTION", this.#over.message, { cause: this.#over });
    if (this.#connection === undefined) await this.connect();
    const connection = await this.#connection;
    if (connection === undefined) throw new TcpError("CONNECTION", "There is no connection.");
    return connection;
  }

  async #open(): Promise<AgentTcpConnection> {
    const { heartbeatMs, maxFrame, onHeard } = this.#options;
    const socket = await dialTcp(this.#options);
    const connection = await AgentTcpConnection.open(socket, {
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(maxFrame === undefined ? {} : { maxFrame }),
      ...(onHeard === undefined ? {} : { onHeard }),
    });
    try {
      if (this.#token !== undefined) await this.#authenticate(connection, this.#token);
      if (this.#closed) throw new TcpError("CONNECTION", "This client was closed.");
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
    connection.onGone((why) => this.#gone(why));
    return connection;
  }

  async #authenticate(connection: AgentTcpConnection, token: string): Promise<JsonObject> {
    const { maxFrame, deadlineMs = TCP_LIMITS.requestMs, onUp } = this.#options;
    const data = maxFrame === undefined ? { token } : { token, maxFrame };
    const session = await connection.request("AUTH", data, { deadlineMs });
    this.#session = session;
    onUp?.(session, connection.hello);
    return session;
  }

  #gone(why: TcpError): void {
    const { reconnect = true, onDown, onRefused } = this.#options;
    this.#connection = undefined;
    if (!reconnect) this.#over = why;
    onDown?.(why);
    if (this.#closed || !reconnect) return;
    this.#connection = this.#openAgain();
    this.#connection.catch((thrown: unknown) => {
      this.#connection = undefined;
      if (!this.#closed) onRefused?.(thrown);
    });
  }

  /** Tries until there is a connection; a token that is refused will be refused again, so that ends it. */
  async #openAgain(): Promise<AgentTcpConnection> {
    for (let attempt = 0; ; attempt += 1) {
      await this.#rest(attempt);
      try {
        return await this.#open();
      } catch (thrown) {
        const passing = thrown instanceof TcpError && (thrown.code === "CONNECTION" || thrown.code === "RATE_LIMITED");
        if (this.#closed || !passing) throw thrown;
      }
    }
  }

  /** Full jitter: many clients that were cut at once come back one by one. */
  async #rest(attempt: number): Promise<void> {
    if (this.#closed) return;
    const { backoffMs = CLIENT_LIMITS.backoffMs } = this.#options;
    const longest = Math.min(backoffMs * 2 ** attempt, CLIENT_LIMITS.backoffCapMs);
    await new Promise<void>((wake) => {
      this.#resting = { wake, timer: setTimeout(wake, Math.random() * longest) };
    });
    this.#resting = undefined;
  }
}

async function withDeadline<Thing>(thing: Promise<Thing>, deadlineMs: number): Promise<Thing> {
  const { promise: late, reject } = deferred<never>();
  const timer = setTimeout(() => reject(new TcpError("CONNECTION", `No connection in ${deadlineMs} ms.`)), deadlineMs);
  return Promise.race([thing, late]).finally(() => clearTimeout(timer));
}
