import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { sanitiser } from "@vidro/aon/boxes";
import { Fault, HTTP_LIMITS, isLoopbackHost, listenFault } from "@vidro/core";
import type { Records } from "@vidro/core";
import type { Log } from "../observe/log.ts";
import { Metrics } from "../observe/metrics.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { Tokens } from "../auth/tokens.ts";
import { IdempotentReplies } from "./idempotency.ts";
import { parseOrigins } from "./cross-origin.ts";
import { handleRequest } from "./request.ts";
import type { ServerContext } from "./request.ts";
import type { Route, Surface } from "./route.ts";
import { createRouter } from "./router.ts";
import { setSecurityHeaders } from "./send.ts";
import { asksForWebSocket, upgradeHandler } from "./upgrade.ts";
import type { Upgrade } from "./upgrade.ts";
import { DeadPeers } from "./dead-peers.ts";
import { createValidator } from "./validate.ts";
import type { Validator } from "./validate.ts";

/** The routes of an HTTP server, and the address that it listens at. */
export interface HttpOptions {
  /** The first one words the faults of unknown paths. */
  readonly surfaces: readonly Surface[];
  readonly tokens: Pick<Tokens, "verify">;
  /** Sessions of browsers; without them only tokens count. */
  readonly sessions?: Pick<Sessions, "verify">;
  /** Paths on which a request may become a WebSocket. */
  readonly upgrades?: readonly Upgrade[];
  readonly records: Records;
  /** The address to listen on; beyond this machine only with `tls`. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Host names that the server answers to, besides its address and localhost. */
  readonly hosts?: readonly string[];
  /** Origins whose pages may call, besides the server's own. */
  readonly origins?: readonly string[];
  /** In production only administrators see how an intent was analysed. */
  readonly production: boolean;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Linux's tables of TCP connections; without them a vanished client is noticed only by TCP's own timeout [F10]. */
  readonly tables?: () => Promise<readonly string[]>;
  /** Lower bounds than those of HTTP, for tests. */
  readonly bounds?: Partial<typeof HTTP_BOUNDS>;
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Uses another certificate for new connections; throws when it cannot be used. Only with TLS. */
  secure?(tls: { readonly cert: string; readonly key: string }): void;
  /** Ends streams, gives requests `waitingMs` to end, tells the rest to come back, and closes within `drainMs`. */
  close(): Promise<void>;
}

/** Bounds of a server that tests may lower. */
const HTTP_BOUNDS: {
  readonly [Name in "connections" | "headersMs" | "requestMs" | "waitingMs" | "drainMs" | "processingMs"]: number;
} = HTTP_LIMITS;

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "::1"];

/** Serves surfaces over HTTP; resolves when it listens. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  refuseCleartext(options);
  const bounds = { ...HTTP_BOUNDS, ...options.bounds };
  const going = new AbortController();
  const late = new AbortController();
  const context = contextOf(options, bounds, { going: going.signal, late: late.signal });
  const open = new Set<Promise<void>>();
  const server = serverOf(options, bounds);
  const serve: Parameters<Server["on"]>[1] = (request, response) => {
    setSecurityHeaders(response, context.allowed.scheme);
    // Reached only when a surface fails to word a fault.
    const handled = handleRequest(context, request, response).catch(() => void response.destroy());
    open.add(handled);
    void handled.finally(() => open.delete(handled));
  };
  // `Expect: 100-continue` is handled here, so that no client sends a body that will be refused.
  server.on("request", serve).on("checkContinue", serve);
  server.on("upgrade", upgradeHandler(options.upgrades ?? [], context));
  server.listen(options.port, options.host);
  await once(server, "listening").catch((cause: NodeJS.ErrnoException) => {
    throw listenFault(`${options.host}:${options.port}`, cause);
  });
  // Without a free descriptor a connection cannot be accepted; the server goes on and accepts later ones.
  server.on("error", () => void (context.metrics.refused += 1));
  const unanswered = options.tables === undefined ? undefined : new DeadPeers(options.tables);
  if (unanswered !== undefined)
    server.on(options.tls === undefined ? "connection" : "secureConnection", unanswered.add);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  let down: Promise<void> | undefined;
  return {
    url: `${context.allowed.scheme}://${host}:${port}`,
    port,
    ...("setSecureContext" in server
      ? { secure: (tls) => (server as TlsServer).setSecureContext({ ...tls, minVersion: "TLSv1.2" }) }
      : {}),
    close() {
      going.abort();
      return (down ??= endWaiting(open, late, bounds)
        .then(() => drain(server, bounds.drainMs))
        .finally(() => unanswered?.close()));
    },
  };
}

function serverOf({ tls }: HttpOptions, bounds: typeof HTTP_BOUNDS): Server {
  const settings = {
    maxHeaderSize: HTTP_LIMITS.headerBytes,
    headersTimeout: bounds.headersMs,
    requestTimeout: bounds.requestMs,
    keepAliveTimeout: HTTP_LIMITS.keepAliveMs,
    connectionsCheckingInterval: HTTP_LIMITS.overdueMs,
    // TCP keep-alive notices a vanished client also while nothing is sent to it.
    keepAlive: true,
    keepAliveInitialDelay: HTTP_LIMITS.probeIdleMs,
    shouldUpgradeCallback: asksForWebSocket,
  };
  // Not a static import: that evaluates all exports of the module, some of which load all of fetch.
  const server =
    tls === undefined
      ? process.getBuiltinModule("node:http").createServer(settings)
      : process
          .getBuiltinModule("node:https")
          .createServer({ ...settings, ...tls, minVersion: "TLSv1.2", handshakeTimeout: bounds.headersMs });
  server.maxConnections = bounds.connections;
  server.maxRequestsPerSocket = HTTP_LIMITS.requestsPerConnection;
  server.maxHeadersCount = HTTP_LIMITS.headers;
  return server;
}

function contextOf(
  options: HttpOptions,
  { processingMs }: typeof HTTP_BOUNDS,
  end: Pick<ServerContext, "going" | "late">,
): ServerContext {
  const [first, ...others] = options.surfaces;
  if (first === undefined) throw new Error("A server needs a surface.");
  const validators = new WeakMap<Route, Validator>();
  return {
    router: createRouter([first, ...others]),
    validator(route) {
      const known = validators.get(route) ?? createValidator(route);
      validators.set(route, known);
      return known;
    },
    allowed: {
      hosts: new Set([...LOOPBACK_NAMES, options.host, ...(options.hosts ?? [])].map((name) => name.toLowerCase())),
      origins: new Set(parseOrigins(options.origins ?? [])),
      scheme: options.tls === undefined ? "http" : "https",
    },
    tokens: options.tokens,
    sessions: options.sessions,
    answers: new IdempotentReplies(options.records),
    metrics: options.metrics ?? new Metrics(),
    sanitiser: sanitiser(),
    log: options.log,
    production: options.production,
    processingMs,
    ...end,
  };
}

/** Refuses to listen beyond this machine without TLS: tokens would cross the network in clear text. */
function refuseCleartext({ host, tls }: HttpOptions): void {
  if (tls !== undefined || isLoopbackHost(host)) return;
  throw new Fault(
    "BAD_REQUEST",
    `${host} can be reached from other machines, and without TLS the tokens would cross the network in clear text: ` +
      "give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that has them.",
  );
}

/**
 * Waits for open requests, and then answers those that are still open with 503. The server listens until then, so that
 * `/readyz` can answer that it is draining.
 */
async function endWaiting(
  open: ReadonlySet<Promise<void>>,
  late: AbortController,
  { waitingMs }: typeof HTTP_BOUNDS,
): Promise<void> {
  const impatience = setTimeout(() => late.abort(), waitingMs);
  while (open.size > 0 && !late.signal.aborted) await Promise.race([...open, once(late.signal, "abort")]);
  clearTimeout(impatience);
  late.abort();
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  // Idle keep-alive connections would stay open otherwise.
  const sweep = setInterval(() => server.closeIdleConnections(), HTTP_LIMITS.sweepMs);
  const impatience = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(impatience);
}
