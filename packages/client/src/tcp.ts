import { CLIENT_LIMITS, deferred, LONGEST_TIMER_MS, TCP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { TcpHello } from "@vidro/core/wire/agent-tcp";
import { TcpError } from "./tcp/error.ts";
import { dialTcp } from "./tcp/dial.ts";
import type { TcpAddress } from "./tcp/dial.ts";
import { AgentTcpConnection } from "./tcp/connection.ts";

export { TcpError } from "./tcp/error.ts";
export type { TcpAddress } from "./tcp/dial.ts";

/** Address, token and timing of a TCP client. */
export interface TcpClientOptions extends TcpAddress {
  /** Sent on every connection, also after a cut; without one, `auth` sends it. */
  readonly token?: string;
  /** Deadline of a request. */
  readonly deadlineMs?: number;
  /** Interval of heartbeats; by default the server's. */
  readonly heartbeatMs?: number;
  /** Whether to reconnect after a cut. */
  readonly reconnect?: boolean;
  /** First delay before reconnecting, doubled each time. */
  readonly backoffMs?: number;
  /** Longest frame to accept; a server that does not know the field uses its own bound. */
  readonly maxFrame?: number;
  /** Called after each authentication, with the answer to AUTH; `onDown` when the connection is gone. */
  readonly onUp?: (session: JsonObject, hello: TcpHello) => void;
  readonly onDown?: (why: TcpError) => void;
  /** Called whenever something arrives from the server. */
  readonly onHeard?: () => void;
  /** Called when the server refuses a reconnection; the client does not try again then. */
  readonly onRefused?: (why: unknown) => void;
}

/** Options of a request. */
export interface RequestOptions {
  readonly deadlineMs?: number;
  /** Called with live output, if the server sends it. */
  readonly hear?: (data: JsonObject) => void;
}

/**
 * A client of the TCP agent protocol, version 1. After a cut it reconnects and authenticates by itself. A request that
 * was under way rejects with CONNECTION and is not repeated: only the caller knows whether that is safe.
 */
export class TcpClient {
  readonly #options: TcpClientOptions;
  #token: string | undefined;
  #connection: Promise<AgentTcpConnection> | undefined;
  #session: JsonObject | undefined;
  #closed = false;
  /** Why the client gave up; requests reject with it. */
  #over: TcpError | undefined;
  #resting: { readonly timer: NodeJS.Timeout; readonly wake: () => void } | undefined;

  constructor(options: TcpClientOptions) {
    this.#options = options;
    this.#token = options.token;
  }

  /** Connects, checks the version, and authenticates when there is a token; resolves to the server's greeting. */
  async connect(): Promise<TcpHello> {
    if (this.#closed) throw clientClosed();
    // A client that gave up after a cut begins anew when it is told to.
    this.#over = undefined;
    return (await (this.#connection ?? this.#dial())).hello;
  }

  /** Authenticates with a token, which is sent again after a cut; resolves to the answer to AUTH. */
  async auth(token: string): Promise<JsonObject> {
    const session = await this.#authenticate(await this.#up(), token);
    this.#token = token;
    return session;
  }

  /** The last answer to AUTH. */
  get session(): JsonObject | undefined {
    return this.#session;
  }

  /**
   * Sends a request and resolves to its answer; rejects with a TcpError. While the client reconnects it waits, up to its
   * deadline.
   */
  async request(act: string, data: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    const deadlineMs = options.deadlineMs ?? this.#options.deadlineMs ?? TCP_LIMITS.requestMs;
    const begun = performance.now();
    const connection = await withDeadline(this.#up(), deadlineMs);
    const left = deadlineMs - (performance.now() - begun);
    return connection.request(act, data, { ...options, deadlineMs: Math.max(left, 1) });
  }

  /** Closes the connection; pending requests reject with CONNECTION. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#resting?.timer);
    this.#resting?.wake();
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  async #up(): Promise<AgentTcpConnection> {
    if (this.#closed) throw clientClosed();
    if (this.#over !== undefined) throw new TcpError("CONNECTION", this.#over.message, { cause: this.#over });
    return this.#connection ?? this.#dial();
  }

  #dial(): Promise<AgentTcpConnection> {
    const opening = this.#open();
    this.#connection = opening;
    opening.catch(() => (this.#connection = undefined));
    return opening;
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
      if (this.#closed) throw clientClosed();
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
    connection.onGone((why) => this.#takeLoss(why));
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

  #takeLoss(why: TcpError): void {
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

  /** Reconnects until it succeeds; a refused token ends it, because it would be refused again. */
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

  /** Full jitter, so that many clients do not reconnect at the same time. */
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

function clientClosed(): TcpError {
  return new TcpError("CONNECTION", "This client was closed.");
}

async function withDeadline<Thing>(thing: Promise<Thing>, deadlineMs: number): Promise<Thing> {
  const { promise: late, reject } = deferred<never>();
  const timer = setTimeout(
    () => reject(new TcpError("CONNECTION", `No connection in ${deadlineMs} ms.`)),
    Math.min(deadlineMs, LONGEST_TIMER_MS),
  );
  return Promise.race([thing, late]).finally(() => clearTimeout(timer));
}
