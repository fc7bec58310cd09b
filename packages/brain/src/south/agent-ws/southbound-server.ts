import { constants } from "node:crypto";
import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TLSSocket } from "node:tls";
import { asFault, Fault, FAULTS, REGISTER_LIMITS, HTTP_LIMITS, listenFault, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { SOUTHBOUND_PATH } from "@vidro/core/wire/enrolment";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { contain, containEvents } from "../../observe/containment.ts";
import type { Log } from "../../observe/log.ts";
import type { Credentials } from "../enrolment/authority.ts";
import type { CertifiedPeer } from "../enrolment/certified-peer.ts";

/** What to do when the port for hands is taken; the port for clients is another setting. */
const OTHER_PORT = "Choose another, 0 picks a free one: vidro stop && vidro up -d --southbound-port 0";

/** A request whose body has been read. */
export interface SouthboundRequest {
  /** The request target, query included. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, duplicates included. */
  readonly rawHeaders: readonly string[];
  /** The exact bytes sent; signatures are computed over them. */
  readonly body: Buffer;
  /** IP address of the peer. */
  readonly address: string;
  /** The certificate of the peer, unverified. */
  readonly certificate?: X509Certificate | undefined;
  /** Aborted when the peer disconnects or the listener closes. */
  readonly signal: AbortSignal;
}

/** The answer of a route: a JSON value, JSON text that the route has encoded itself, or bytes as they come. */
export type SouthboundAnswer = {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
} & ({ readonly json: JsonObject } | { readonly text: string } | { readonly stream: Readable });

/** One route of the listener; a Fault that it throws is answered with its status. Only a POST has a body, in JSON. */
export interface SouthboundRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly maxBytes: number;
  readonly handle: (request: SouthboundRequest) => Promise<SouthboundAnswer>;
}

/** Options of the listener for hands. */
interface SouthboundServerOptions {
  /** The address to listen on; undefined listens on all addresses of this machine. */
  readonly host: string | undefined;
  /** 0 picks a free one. */
  readonly port: number;
  /** The authority whose client certificates are accepted, in PEM. */
  readonly ca: string;
  /** Gives the certificate of the listener; called again at intervals, for its renewal. */
  readonly credentials: () => Promise<Credentials>;
  readonly routes: readonly SouthboundRoute[];
  /** Identifies the peer; rejects with a Fault when it may not connect. */
  readonly admit: (socket: TLSSocket) => Promise<CertifiedPeer>;
  /** Receives each admitted connection. */
  readonly accept: (socket: WebSocket, peer: CertifiedPeer) => void;
  readonly log: Log;
}

/** A running listener. */
export interface SouthboundServer {
  readonly port: number;
  /** Stops listening, sends a close frame to each WebSocket, and destroys what is still open after a while. */
  close(): Promise<void>;
}

/** Listens for hands, in TLS 1.3 only; resolves when it listens, CONFLICT when it cannot. */
export async function serveSouthbound(options: SouthboundServerOptions): Promise<SouthboundServer> {
  const closing = new AbortController();
  const server = createServer({ ...SETTINGS, ca: options.ca, ...(await options.credentials()) });
  server.maxConnections = SOUTHBOUND_LIMITS.connections;
  server.maxHeadersCount = HTTP_LIMITS.headers;
  queueHandshakes(server);
  const sockets = new WebSocketServer(WEB_SOCKETS);
  // Includes connections without a request yet, which the HTTP server does not close.
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", (request, response) => {
    const contained = { fields: { address: addressOf(request) }, end: () => void response.destroy() };
    containEvents(contained, request);
    containEvents(contained, response);
    void contain(contained, () => answer(options, { request, response, closing: closing.signal }));
  });
  server.on("upgrade", (request, socket, head) => void upgrade(options, sockets, { request, socket, head }));
  server.on("tlsClientError", (_, socket) => socket.destroy());
  server.listen({ port: options.port, ...(options.host === undefined ? {} : { host: options.host }) });
  await once(server, "listening").catch((cause: NodeJS.ErrnoException) => {
    throw listenFault(`Port ${options.port} for hands`, cause, OTHER_PORT);
  });
  // Out of file descriptors, for example: new hosts retry, and connected hands stay.
  server.on("error", ({ message }) => options.log("southbound.accept_failed", { reason: message }));
  const renewal = setInterval(() => void renew(server, options), SOUTHBOUND_LIMITS.serverRenewMs / 2).unref();
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      clearInterval(renewal);
      closing.abort();
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets.clients) socket.close(GOING_AWAY);
      const forceClose = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, SOUTHBOUND_LIMITS.closeMs);
      server.closeIdleConnections();
      await closed;
      clearTimeout(forceClose);
    },
  };
}

/**
 * Starts handshakes in the order of arrival, a few in each turn of the event loop: when a whole fleet reconnects,
 * handshakes that all start at once would all time out [F22].
 */
function queueHandshakes(server: Server): void {
  const begin = server.listeners("connection") as ((socket: Socket) => void)[];
  const waiting: Socket[] = [];
  let turn: NodeJS.Immediate | undefined;
  const next = (): void => {
    for (const socket of waiting.splice(0, SOUTHBOUND_LIMITS.handshakes))
      if (!socket.destroyed) for (const listener of begin) listener.call(server, socket);
    turn = waiting.length === 0 ? undefined : setImmediate(next);
  };
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    // A peer that disconnects before its turn needs no handling.
    socket.on("error", () => undefined);
    waiting.push(socket);
    turn ??= setImmediate(next);
  });
}

/** WebSocket close code: the server shuts down. */
const GOING_AWAY = 1001;

const SETTINGS = {
  minVersion: "TLSv1.3",
  maxVersion: "TLSv1.3",
  ALPNProtocols: ["http/1.1"],
  // Without session tickets each connection shows its certificate, so that a revoked one is refused.
  secureOptions: constants.SSL_OP_NO_TICKET,
  requestCert: true,
  // A host that enrols has no certificate yet; every other request checks it before anything else.
  rejectUnauthorized: false,
  handshakeTimeout: SOUTHBOUND_LIMITS.handshakeMs,
  headersTimeout: SOUTHBOUND_LIMITS.handshakeMs,
  requestTimeout: SOUTHBOUND_LIMITS.requestMs,
  keepAliveTimeout: HTTP_LIMITS.keepAliveMs,
  connectionsCheckingInterval: HTTP_LIMITS.overdueMs,
  maxHeaderSize: HTTP_LIMITS.headerBytes,
  keepAlive: true,
  keepAliveInitialDelay: HTTP_LIMITS.probeIdleMs,
} as const;

const WEB_SOCKETS = {
  noServer: true,
  perMessageDeflate: false,
  maxPayload: REGISTER_LIMITS.readBytes,
  maxFragments: REGISTER_LIMITS.fragments,
  closeTimeout: SOUTHBOUND_LIMITS.closeMs,
} as const;

async function renew(server: Server, { credentials, ca, log }: SouthboundServerOptions): Promise<void> {
  try {
    const { minVersion, maxVersion, secureOptions } = SETTINGS;
    server.setSecureContext({ minVersion, maxVersion, secureOptions, ca, ...(await credentials()) });
  } catch (thrown) {
    log("southbound.renewal_failed", { reason: asFault(thrown).message });
  }
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function upgrade(
  { admit, accept, log }: SouthboundServerOptions,
  sockets: WebSocketServer,
  { request, socket, head }: Upgrade,
): Promise<void> {
  const drop = (): void => void socket.destroy();
  socket.on("error", drop);
  try {
    if (pathOf(request) !== SOUTHBOUND_PATH) throw new Fault("NOT_FOUND", `Hands connect at ${SOUTHBOUND_PATH}.`);
    // A web page must not use a client certificate of the browser's machine.
    if (request.headers.origin !== undefined) throw new Fault("FORBIDDEN", "A web page cannot connect as a hand.");
    const peer = await admit(socket as TLSSocket);
    socket.off("error", drop);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const contained = { fields: { agent_id: peer.identity.id }, end: () => opened.terminate() };
      containEvents(contained, opened);
      contain(contained, () => accept(opened, peer));
    });
  } catch (thrown) {
    refuse(socket, publicFault(thrown, { log, request, event: "hand.refused" }));
  }
}

/** Refuses an upgrade with a plain HTTP answer. */
function refuse(socket: Duplex, fault: Fault): void {
  const body = JSON.stringify(faultBody(fault));
  const { http } = FAULTS[fault.code];
  const lines = [
    `HTTP/1.1 ${http} ${fault.code}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly closing: AbortSignal;
}

async function answer({ routes, log }: SouthboundServerOptions, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  try {
    await send(response, await handleRequest(routes, exchange));
  } catch (thrown) {
    const fault = publicFault(thrown, { log, request, event: "southbound.refused" });
    const wait = Math.ceil((fault.retryAfterMs ?? 0) / 1000);
    const headers = wait === 0 ? {} : { "retry-after": String(wait) };
    await send(response, { status: FAULTS[fault.code].http, headers, json: faultBody(fault) });
  }
}

/** Logs a fault and returns what the peer may see of it: an internal error is hidden. */
function publicFault(
  thrown: unknown,
  { log, request, event }: { log: Log; request: IncomingMessage; event: "hand.refused" | "southbound.refused" },
): Fault {
  const fault = asFault(thrown);
  const isOurs = FAULTS[fault.code].fate === "bug";
  log(isOurs ? "southbound.faulted" : event, {
    code: fault.code,
    reason: isOurs ? (fault.stack ?? fault.message) : fault.message,
    address: addressOf(request),
  });
  return isOurs ? new Fault("INTERNAL_ERROR") : fault;
}

async function handleRequest(routes: readonly SouthboundRoute[], exchange: Exchange): Promise<SouthboundAnswer> {
  const { request, response, closing } = exchange;
  const path = pathOf(request);
  const route = routes.find((one) => one.path === path);
  if (route === undefined && path === SOUTHBOUND_PATH)
    throw new Fault("BAD_REQUEST", "This path is for WebSockets: send Upgrade: websocket.");
  if (route === undefined) throw new Fault("NOT_FOUND");
  if (request.method !== route.method) throw new Fault("METHOD_NOT_ALLOWED", `${path} takes ${route.method}.`);
  if (route.method === "POST" && !/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    throw new Fault("UNSUPPORTED_MEDIA_TYPE");
  const left = new AbortController();
  response.once("close", () => left.abort());
  return route.handle({
    target: request.url ?? "/",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body: await bodyOf(request, route.maxBytes),
    address: addressOf(request),
    certificate: (request.socket as TLSSocket).getPeerX509Certificate(),
    signal: AbortSignal.any([left.signal, closing]),
  });
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new Fault("PAYLOAD_TOO_LARGE", `A request to this path has at most ${maxBytes} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function send(response: ServerResponse, answered: SouthboundAnswer): Promise<void> {
  if ("stream" in answered) {
    response.writeHead(answered.status ?? 200, { "cache-control": "no-store", ...answered.headers });
    // A host that leaves, or is too slow, is no fault of the brain.
    return pipeline(answered.stream, response).catch(() => void response.destroy());
  }
  const text = "text" in answered ? answered.text : JSON.stringify(answered.json);
  response.writeHead(answered.status ?? 200, {
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-length": Buffer.byteLength(text),
    ...answered.headers,
  });
  response.end(text);
}

function faultBody(fault: Fault): JsonObject {
  const { code, message, retryAfterMs } = fault.report();
  return { ok: false, error: message, code, ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }) };
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? "";
}
