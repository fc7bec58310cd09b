import { randomBytes, randomUUIDv7 } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Sanitiser } from "@vidro/aon/boxes";
import { Fault, FAULTS, HTTP_LIMITS, thrownStack } from "@vidro/core";
import { contain, containEvents } from "../observe/containment.ts";
import type { Containment } from "../observe/containment.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { Tokens } from "../auth/tokens.ts";
import { admitRequest, ANONYMOUS, authenticate } from "./allowed-hosts.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";
import { keyForRequest, idempotencyKey } from "./idempotency.ts";
import type { IdempotentReplies } from "./idempotency.ts";
import { readBody } from "./body.ts";
import { openAonResponse } from "./aon-response.ts";
import type { AonResponse } from "./aon-response.ts";
import { allowRead, allowSend } from "./cross-origin.ts";
import { unwrapEnvelope } from "./envelope.ts";
import { acceptBody, reportMending } from "./mend-body.ts";
import { ClientPresence, requireStillValid } from "./client-presence.ts";
import type { RouteCall, Reply, StreamWriter, Surface } from "./route.ts";
import type { RouteMatch, Router } from "./router.ts";
import { sendFault, sendNothing } from "./send.ts";
import type { Validator } from "./validate.ts";
import type { VerifiedCaller } from "../auth/caller.ts";

/** The parts of a server that each request uses. */
export interface ServerContext {
  readonly router: Router;
  readonly validator: (route: RouteMatch["route"]) => Validator;
  readonly allowed: AllowedHosts;
  readonly tokens: Pick<Tokens, "verify">;
  readonly sessions: Pick<Sessions, "verify"> | undefined;
  readonly answers: IdempotentReplies;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly production: boolean;
  readonly sanitiser: Sanitiser;
  /** How often a client that asks for it gets a 102 while its answer is worked on. */
  readonly processingMs: number;
  /** Aborted when the server shuts down: streams end, so that their clients resume them elsewhere. */
  readonly going: AbortSignal;
  /** Aborted when those who still wait for an answer are told to come back. */
  readonly late: AbortSignal;
}

/** One request, and what is known of it so far. */
interface RequestContext {
  readonly server: ServerContext;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly traceId: string;
  /** The surface of the path's prefix until the route is known; it words the faults. */
  surface: Surface;
  matched?: RouteMatch;
  caller?: VerifiedCaller;
  box?: AonResponse;
}

/** Answers one request: the checks that are the same for all routes, in order, then the route itself. */
export async function handleRequest(
  server: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path, query } = targetOf(request.url ?? "");
  const ctx: RequestContext = {
    server,
    request,
    response,
    requestId: requestIdOf(request),
    traceId: traceIdOf(request),
    surface: server.router.surfaceFor(path),
  };
  const startedAt = performance.now();
  response.setHeader("x-request-id", ctx.requestId);
  response.once("close", () => noteRequest(ctx, performance.now() - startedAt));
  const contained: Containment = {
    fields: { request_id: ctx.requestId },
    traceparent: request.headers["traceparent"]?.toString(),
    end: (fault) => replyFault(ctx, fault),
  };
  containEvents(contained, request);
  containEvents(contained, response);
  await contain(contained, () => serve(ctx, path, query));
}

async function serve(ctx: RequestContext, path: string, query: URLSearchParams): Promise<void> {
  const { server, request } = ctx;
  try {
    const origin = admitRequest(request, server.allowed);
    if (origin !== undefined) allowRead(ctx.response, origin);
    if (!findRoute(ctx, path)) return;
    if (server.going.aborted && ctx.matched?.route.answersToTheEnd !== true)
      throw new Fault("SHUTTING_DOWN", undefined, { retryAfterMs: HTTP_LIMITS.stopMs });
    await callRoute(ctx, query);
  } catch (thrown) {
    replyFault(ctx, faultForClient(ctx, thrown));
  }
}

/** Finds the route; false when the request was an OPTIONS and is answered. */
function findRoute(ctx: RequestContext, path: string): boolean {
  const { request, response, server } = ctx;
  const method = request.method ?? "";
  const place = server.router.find(path);
  if (place === undefined) throw new Fault("NOT_FOUND", `There is nothing at ${path.slice(0, SHOWN_CHARS)}.`);
  const matched = place.route(method);
  if (matched !== undefined) {
    ctx.matched = matched;
    ctx.surface = matched.surface;
    return true;
  }
  response.setHeader("allow", place.methods.join(", "));
  if (method !== "OPTIONS") throw new Fault("METHOD_NOT_ALLOWED", `It takes ${place.methods.join(", ")}.`);
  // admitRequest has refused any other origin.
  if (request.headers.origin !== undefined) allowSend(request, response, place.methods);
  sendNothing(response, 204);
  return false;
}

const SHOWN_CHARS = 200;

async function callRoute(ctx: RequestContext, query: URLSearchParams): Promise<void> {
  const { server, request, response } = ctx;
  const { route, params } = ctx.matched!;
  const verified = await authenticate(request, route, server);
  if (verified !== undefined) ctx.caller = verified;
  const caller = verified ?? ANONYMOUS;
  const { requestId, traceId } = ctx;
  const { production, sanitiser } = server;
  const { processingMs } = server;
  const box = openAonResponse({
    request,
    response,
    route,
    requestId,
    traceId,
    caller,
    production,
    sanitiser,
    processingMs,
  });
  const checks = server.validator(route);
  const given = checks.query(query);
  let raw = "";
  const brought = await readBody(request, response, (text) => (raw = text));
  if (verified !== undefined) requireStillValid(verified);
  const taken = acceptBody(route, checks, unwrapEnvelope(route, brought));
  const { body } = taken;
  const presence = new ClientPresence(response, verified, server);
  try {
    const key = repeatKey(ctx, caller.owner);
    const { headers } = request;
    const asked = { params, query: given, body };
    const call: RouteCall = {
      params,
      query: given,
      body,
      raw,
      caller,
      headers,
      requestId,
      key: key === undefined ? undefined : keyForRequest(key, asked),
      signal: presence.signal,
      gone: presence.gone,
      tell: box.tell,
      isGoing: server.going.aborted,
    };
    ctx.box = box;
    box.open();
    const work = (): Promise<Reply> => route.handle(call);
    const replied =
      key === undefined ? await work() : await server.answers.once({ key, owner: caller.owner, asked }, work);
    reportMending(box.tell, route, taken);
    if ("json" in replied) return box.result(replied);
    await streamReply(ctx, replied.stream, presence);
  } finally {
    presence.end();
  }
}

async function streamReply(ctx: RequestContext, write: StreamWriter, presence: ClientPresence): Promise<void> {
  const { response, server, request } = ctx;
  const before = ctx.box?.leave() ?? "";
  if (request.method === "HEAD") return sendNothing(response, 200);
  server.metrics.streams.inc();
  presence.leaveWhenGoing();
  try {
    await write(response, before);
    if (!response.writableEnded) response.end();
  } finally {
    server.metrics.streams.dec();
  }
}

function repeatKey({ request, matched }: RequestContext, owner: string): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || request.method !== "POST") return undefined;
  if (typeof key !== "string" || key === "" || key.length > HTTP_LIMITS.keyChars)
    throw new Fault("BAD_REQUEST", `An Idempotency-Key has 1 to ${HTTP_LIMITS.keyChars} characters.`);
  return idempotencyKey(owner, `${request.method} ${matched!.route.path}`, key);
}

/** Sends a fault as the answer; every fault of a request ends here. */
function replyFault(ctx: RequestContext, fault: Fault): void {
  const { response, request, surface, requestId } = ctx;
  if (response.destroyed || response.writableEnded) return;
  if (ctx.box?.error(fault) === true) return;
  // An answer that has begun cannot be replaced: destroying it shows the client that it is incomplete.
  if (response.headersSent) return void response.destroy();
  sendFault({ request, response, fault, body: surface.faultBody(fault, requestId) });
}

/** The fault that the client is told; a bug of Vidro is logged with its stack, and the client gets the trace id. */
function faultForClient({ server, traceId, requestId }: RequestContext, thrown: unknown): Fault {
  if (thrown instanceof Fault && FAULTS[thrown.code].fate !== "bug") return thrown;
  const stack = thrownStack(thrown);
  server.log("http.faulted", { trace_id: traceId, request_id: requestId, stack });
  return new Fault("INTERNAL_ERROR", `${FAULTS.INTERNAL_ERROR.says} The trace is ${traceId}.`, { cause: thrown });
}

function noteRequest(ctx: RequestContext, tookMs: number): void {
  const { server, request, response, matched, caller } = ctx;
  const method = matched === undefined ? "other" : (request.method ?? "");
  const path = matched?.route.path ?? "none";
  const status = response.headersSent ? response.statusCode : 0;
  const labels = { method, path, status: String(status) };
  server.metrics.requests.inc(labels);
  server.metrics.requestTime.observe(tookMs / 1000, labels);
  const runId = response.getHeader("x-run-id");
  server.log(status >= 500 ? "http.failed" : "http.answered", {
    method,
    path,
    status,
    duration_ms: Math.round(tookMs),
    request_id: ctx.requestId,
    trace_id: ctx.traceId,
    ...(caller === undefined ? {} : { owner: caller.owner, token_id: caller.tokenId }),
    ...(typeof runId === "string" ? { run_id: runId } : {}),
  });
}

/** Path and query of a request target; RFC 9112 also allows a whole URL. */
function targetOf(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const local = target.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = local.indexOf("?");
  return mark === -1
    ? { path: local, query: new URLSearchParams() }
    : { path: local.slice(0, mark), query: new URLSearchParams(local.slice(mark + 1)) };
}

const REQUEST_ID = new RegExp(`^[\\w.-]{1,${HTTP_LIMITS.requestIdChars}}$`);

function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : `req_${randomUUIDv7()}`;
}

/** The trace that a client's `traceparent` continues, or a new one. */
function traceIdOf({ headers }: IncomingMessage): string {
  const [, given] =
    /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(headers["traceparent"]?.toString() ?? "") ?? [];
  return given ?? randomBytes(16).toString("hex");
}
