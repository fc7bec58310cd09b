import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { asFault, Fault, FAULTS, HTTP_LIMITS, LONGEST_TIMER_MS, REGISTER_LIMITS } from "@vidro/core";
import { contain, containEvents } from "../observe/containment.ts";
import type { Log } from "../observe/log.ts";
import type { Tokens } from "../auth/tokens.ts";
import { admitRequest, authenticate } from "./allowed-hosts.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";
import type { Caller } from "../auth/caller.ts";
import { sendFault, setSecurityHeaders } from "./send.ts";
import type { VerifiedCaller } from "../auth/caller.ts";

/** A connection that has become a WebSocket. */
export interface UpgradedConnection {
  readonly socket: WebSocket;
  readonly caller: Caller;
  readonly params: { readonly [name: string]: string };
  /** Aborted with a Fault when the token was revoked or has expired, or the server shuts down. */
  readonly ended: AbortSignal;
}

/** A path on which a request may become a WebSocket. */
export interface Upgrade {
  /** With `{name}` for parameters. */
  readonly path: string;
  /** The scope that a token needs. */
  readonly scope: string;
  /**
   * Loads the function that takes a connection over; the connection is cut a moment after `ended` if it is still open.
   */
  opener(): Promise<(upgraded: UpgradedConnection) => void>;
}

/** The parts of a server that upgrades use. */
interface UpgradeContext {
  readonly allowed: AllowedHosts;
  readonly tokens: Pick<Tokens, "verify">;
  readonly log: Log;
  readonly going: AbortSignal;
}

const NOT_LET_IN = { ok: false } as const;

/** Whether a request asks to become a WebSocket; other upgrades are ignored. */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Handles requests that ask to become a WebSocket: the checks of any other request, then the path's own handler. */
export function upgradeHandler(
  paths: readonly Upgrade[],
  context: UpgradeContext,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const places = paths.map((upgrade) => ({ upgrade, names: namesIn(upgrade.path), shape: shapeOf(upgrade.path) }));
  let server: Promise<WebSocketServer> | undefined;
  const find = (
    request: IncomingMessage,
  ): { readonly upgrade: Upgrade; readonly params: UpgradedConnection["params"] } => {
    const [path = ""] = (request.url ?? "").split("?");
    for (const { upgrade, names, shape } of places) {
      const found = shape.exec(path);
      if (found === null) continue;
      const params = names.map((name, index) => [name, decodeParameter(found[index + 1] ?? "")]);
      return { upgrade, params: Object.fromEntries(params) };
    }
    throw new Fault("NOT_FOUND", "No WebSocket is served there.");
  };
  const open = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    if (context.going.aborted) throw new Fault("SHUTTING_DOWN", undefined, { retryAfterMs: HTTP_LIMITS.stopMs });
    admitRequest(request, context.allowed);
    const { upgrade, params } = find(request);
    const caller = await authenticate(request, upgrade, { tokens: context.tokens });
    if (caller === undefined) throw new Fault("AUTH_REQUIRED");
    const [webSockets, takeOver] = await Promise.all([(server ??= webSocketServer()), upgrade.opener()]);
    if (socket.destroyed) return;
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      context.log("websocket.opened", { path: upgrade.path, owner: caller.owner, token_id: caller.tokenId });
      const fields = { owner: caller.owner, token_id: caller.tokenId };
      const traceparent = request.headers["traceparent"]?.toString();
      const contained = { fields, traceparent, end: () => webSocket.terminate() };
      containEvents(contained, webSocket);
      contain(contained, () =>
        takeOver({ socket: webSocket, caller, params, ended: endOf(webSocket, caller, context.going) }),
      );
    });
  };
  return (request, socket, head) => {
    // A client that disconnects during the checks is no error.
    socket.on("error", () => undefined);
    open(request, socket, head).catch((thrown: unknown) => refuse(context, { request, socket }, thrown));
  };
}

/** Loaded with the first WebSocket, to keep the start of the server short. */
async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: REGISTER_LIMITS.messageBytes,
    maxFragments: REGISTER_LIMITS.fragments,
  });
}

/** A signal that aborts when a connection has to end; the connection is cut soon after. */
function endOf(socket: WebSocket, { revoked, expiresAt }: VerifiedCaller, going: AbortSignal): AbortSignal {
  const ended = new AbortController();
  const end = (fault: Fault): void => {
    ended.abort(fault);
    setTimeout(() => socket.terminate(), HTTP_LIMITS.revokedMs).unref();
  };
  const onRevoked = (): void => end(new Fault("INVALID_TOKEN"));
  const onGoing = (): void => end(new Fault("SHUTTING_DOWN", undefined, { retryAfterMs: HTTP_LIMITS.lingerMs }));
  const leftMs = expiresAt === null ? Infinity : expiresAt - Date.now();
  const expiry =
    leftMs < LONGEST_TIMER_MS ? setTimeout(() => end(new Fault("TOKEN_EXPIRED")), leftMs).unref() : undefined;
  revoked.addEventListener("abort", onRevoked);
  going.addEventListener("abort", onGoing);
  // The token's signal outlives the connection, so its listeners are removed.
  socket.once("close", () => {
    clearTimeout(expiry);
    revoked.removeEventListener("abort", onRevoked);
    going.removeEventListener("abort", onGoing);
  });
  if (revoked.aborted) onRevoked();
  if (going.aborted) onGoing();
  return ended.signal;
}

/** Refuses as any other request is refused; the connection ends with the answer. */
function refuse(
  context: UpgradeContext,
  { request, socket }: { readonly request: IncomingMessage; readonly socket: Duplex },
  thrown: unknown,
): void {
  const fault = asFault(thrown);
  const isOurs = FAULTS[fault.code].fate === "bug";
  if (isOurs) context.log("websocket.faulted", { stack: fault.stack ?? fault.message });
  const { ServerResponse } = process.getBuiltinModule("node:http");
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Over TLS it is a TLSSocket, which is a Socket too.
  response.assignSocket(socket as Socket);
  response.once("finish", () => socket.end());
  setSecurityHeaders(response, context.allowed.scheme);
  const error = isOurs ? FAULTS.INTERNAL_ERROR.says : fault.message;
  sendFault({ request, response, fault, body: { ...NOT_LET_IN, error, code: fault.code } });
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

function shapeOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, `([^/]{1,${REGISTER_LIMITS.nameChars}})`)}$`);
}

function decodeParameter(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The path is not well formed.", { cause });
  }
}
