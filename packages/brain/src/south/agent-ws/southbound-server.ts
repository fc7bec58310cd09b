import { constants } from "node:crypto";
import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
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

/** A request that came whole. */
export interface SouthboundRequest {
  /** As it was sent, query included. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, each as often as it was sent. */
  readonly rawHeaders: readonly string[];
  /** Byte by byte as it was sent. */
  readonly body: Buffer;
  /** The address at the other end. */
  readonly address: string;
  /** The certificate of the peer, unverified. */
  readonly certificate?: X509Certificate | undefined;
  /** Aborted when the other end is gone, or the listener goes down. */
  readonly signal: AbortSignal;
}

/** What a route answers with: a value, or a text that it has written itself. */
export type SouthboundAnswer = {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
} & ({ readonly json: JsonObject } | { readonly text: string });

/** One route of the listener; a Fault that it throws is answered with its status. */
export interface SouthboundRoute {
  readonly method: "POST";
  readonly path: string;
  readonly maxBytes: number;
  readonly handle: (request: SouthboundRequest) => Promise<SouthboundAnswer>;
}

/** What listens for hands. */
interface SouthboundServerOptions {
  /** The address to listen on; all that this machine has when there is none. */
  readonly host: string | undefined;
  /** 0 picks a free one. */
  readonly port: number;
  /** In PEM: whose certificates count. */
  readonly ca: string;
  /** Gives the certificate to show; asked again from time to time. */
  readonly credentials: () => Promise<Credentials>;
  readonly routes: readonly SouthboundRoute[];
  /** Identifies the peer; rejects with a Fault when it may not connect. */
  readonly admit: (socket: TLSSocket) => Promise<CertifiedPeer>;
  /** Gets each connection that was let in. */
  readonly accept: (socket: WebSocket, peer: CertifiedPeer) => void;
  readonly log: Log;
}

/** A listener that is up. */
export interface SouthboundServer {
  readonly port: number;
  /** Stops listening and ends what is left, with a word where that is possible. */
  close(): Promise<void>;
}

/** Listens for hands, in TLS 1.3 only; resolves when it listens, CONFLICT when it cannot. */
export async function serveSouthbound(options: SouthboundServerOptions): Promise<SouthboundServer> {
  const going = new AbortController();
  const server = createServer({ ...SETTINGS, ca: options.ca, ...(await options.credentials()) });
  server.maxConnections = SOUTHBOUND_LIMITS.connections;
  server.maxHeadersCount = HTTP_LIMITS.headers;
  inTurn(server);
  const sockets = new WebSocketServer(WEB_SOCKETS);
  // Also those that have not said anything yet, which no server of HTTP counts.
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", (request, response) => {
    const contained = { fields: { address: addressOf(request) }, end: () => void response.destroy() };
    containEvents(contained, request);
    containEvents(contained, response);
    void contain(contained, () => answer(options, { request, response, going: going.signal }));
  });
  server.on("upgrade", (request, socket, head) => void upgrade(options, sockets, { request, socket, head }));
  server.on("tlsClientError", (_, socket) => socket.destroy());
  server.listen({ port: options.port, ...(options.host === undefined ? {} : { host: options.host }) });
  await once(server, "listening").catch((cause: NodeJS.ErrnoException) => {
    throw listenFault(`Port ${options.port} for hands`, cause);
  });
  // Without a descriptor a host cannot be taken in, and comes again; those that are here stay.
  server.on("error", ({ message }) => options.log("southbound.accept_failed", { reason: message }));
  const renewal = setInterval(() => void renew(server, options), SOUTHBOUND_LIMITS.serverRenewMs / 2).unref();
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      clearInterval(renewal);
      going.abort();
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets.clients) socket.close(GOING_AWAY);
      const impatience = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, SOUTHBOUND_LIMITS.closeMs);
      server.closeIdleConnections();
      await closed;
      clearTimeout(impatience);
    },
  };
}

/**
 * Handshakes begin in the order in which hosts come, a few in each turn of the event loop: when a whole fleet comes
 * back, those that were all begun at once would all end too late [F22].
 */
function inTurn(server: Server): void {
  const begin = server.listeners("connection") as ((socket: Socket) => void)[];
  const waiting: Socket[] = [];
  let turn: NodeJS.Immediate | undefined;
  const next = (): void => {
    for (const socket of waiting.splice(0, SOUTHBOUND_LIMITS.handshakes))
      if (!socket.destroyed) for (const listener of begin) listener.call(server, socket);
    turn = waiting.length === 0 ? undefined : setImmediate(next);
  };
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    // A peer that leaves before its turn needs no handling.
    socket.on("error", () => undefined);
    waiting.push(socket);
    turn ??= setImmediate(next);
  });
}

/** Of WebSocket: the server goes down. */
const GOING_AWAY = 1001;

const SETTINGS = {
  minVersion: "TLSv1.3",
  maxVersion: "TLSv1.3",
  ALPNProtocols: ["http/1.1"],
  // Without session tickets each connection shows its certificate, so that a revoked one is seen.
  secureOptions: constants.SSL_OP_NO_TICKET,
  requestCert: true,
  // A host that enrols has none yet; for all else the certificate is looked at before anything is let in.
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
    if (pathOf(request) !== SOUTHBOUND_PATH) throw new Fault("NOT_FOUND", `Hands are taken at ${SOUTHBOUND_PATH}.`);
    // A page in a browser must not use a certificate that lies on its machine.
    if (request.headers.origin !== undefined) throw new Fault("FORBIDDEN", "Hands do not come from web pages.");
    const peer = await admit(socket as TLSSocket);
    socket.off("error", drop);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const contained = { fields: { agent_id: peer.identity.id }, end: () => opened.terminate() };
      containEvents(contained, opened);
      contain(contained, () => accept(opened, peer));
    });
  } catch (thrown) {
    refuse(socket, shown(thrown, { log, request, event: "hand.refused" }));
  }
}

/** Says no before there is a WebSocket, in plain HTTP. */
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
  readonly going: AbortSignal;
}

async function answer({ routes, log }: SouthboundServerOptions, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  try {
    const said = await handled(routes, exchange);
    send(response, said);
  } catch (thrown) {
    const fault = shown(thrown, { log, request, event: "southbound.refused" });
    const wait = Math.ceil((fault.retryAfterMs ?? 0) / 1000);
    const headers = wait === 0 ? {} : { "retry-after": String(wait) };
    send(response, { status: FAULTS[fault.code].http, headers, json: faultBody(fault) });
  }
}

/** What the other end is told of a refusal: all of it, unless it is a fault of our own, which is for the log. */
function shown(
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

async function handled(routes: readonly SouthboundRoute[], exchange: Exchange): Promise<SouthboundAnswer> {
  const { request, response, going } = exchange;
  const path = pathOf(request);
  const route = routes.find((one) => one.path === path);
  if (route === undefined && path === SOUTHBOUND_PATH)
    throw new Fault("BAD_REQUEST", "Hands come here with a WebSocket: send Upgrade: websocket.");
  if (route === undefined) throw new Fault("NOT_FOUND");
  if (request.method !== route.method) throw new Fault("METHOD_NOT_ALLOWED", `${path} takes ${route.method}.`);
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) throw new Fault("UNSUPPORTED_MEDIA_TYPE");
  const left = new AbortController();
  response.once("close", () => left.abort());
  return route.handle({
    target: request.url ?? "/",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body: await bodyOf(request, route.maxBytes),
    address: addressOf(request),
    certificate: (request.socket as TLSSocket).getPeerX509Certificate(),
    signal: AbortSignal.any([left.signal, going]),
  });
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new Fault("PAYLOAD_TOO_LARGE", `A request to here has at most ${maxBytes} bytes.`);
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

function send(response: ServerResponse, said: SouthboundAnswer): void {
  const text = "text" in said ? said.text : JSON.stringify(said.json);
  response.writeHead(said.status ?? 200, {
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-length": Buffer.byteLength(text),
    ...said.headers,
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
