import { randomBytes, randomUUIDv7 } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Sanitiser } from "@vidro/aon/boxes";
import { Fault, FAULTS, HTTP_LIMITS } from "@vidro/core";
import { contain, containEvents, stackOf } from "../observe/containment.ts";
import type { Contained } from "../observe/containment.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Tokens } from "../auth/tokens.ts";
import { admit, ANYBODY, recognise } from "./allowed-hosts.ts";
import type { Doors } from "./allowed-hosts.ts";
import { boundKey, keyOf } from "./idempotency.ts";
import type { Answers } from "./idempotency.ts";
import { readBody } from "./body.ts";
import { openBox } from "./aon-response.ts";
import type { Box } from "./aon-response.ts";
import { letRead, letSend } from "./cross-origin.ts";
import { unwrapped } from "./envelope.ts";
import { takeBody, tellMending } from "./mend-body.ts";
import { Presence } from "./client-presence.ts";
import type { Call, Reply, StreamWriter, Surface } from "./route.ts";
import type { Matched, Router } from "./router.ts";
import { sendFault, sendNothing } from "./send.ts";
import type { Validator } from "./validate.ts";
import type { Verified } from "../auth/caller.ts";

/** What every exchange needs of its server. */
export interface House {
  readonly router: Router;
  readonly validator: (route: Matched["route"]) => Validator;
  readonly doors: Doors;
  readonly tokens: Pick<Tokens, "verify">;
  readonly answers: Answers;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly production: boolean;
  readonly sanitiser: Sanitiser;
  /** How often a client that asks for it is told that its answer is still worked on. */
  readonly processingMs: number;
  /** Aborted when the server is to end: streams are let go, so that their clients take them up elsewhere. */
  readonly going: AbortSignal;
}

/** One request on its way through the house, and what has been found out about it so far. */
interface Exchange {
  readonly house: House;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly traceId: string;
  /** Speaks for the path until its route is known. */
  surface: Surface;
  matched?: Matched;
  caller?: Verified;
  box?: Box;
}

/** Answers one request: every check that is the same for all routes, in order, then the route itself. */
export async function exchange(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path, query } = targetOf(request.url ?? "");
  const it: Exchange = {
    house,
    request,
    response,
    requestId: requestIdOf(request),
    traceId: traceIdOf(request),
    surface: house.router.near(path),
  };
  const startedAt = performance.now();
  response.setHeader("x-request-id", it.requestId);
  response.once("close", () => note(it, performance.now() - startedAt));
  const contained: Contained = {
    fields: { request_id: it.requestId },
    end: (fault) => reply(it, fault),
  };
  containEvents(contained, request);
  containEvents(contained, response);
  await contain(contained, () => serve(it, path, query));
}

async function serve(it: Exchange, path: string, query: URLSearchParams): Promise<void> {
  const { house, request } = it;
  try {
    const origin = admit(request, house.doors);
    if (origin !== undefined) letRead(it.response, origin);
    if (house.going.aborted) throw new Fault("SHUTTING_DOWN", undefined, { retryAfterMs: HTTP_LIMITS.stopMs });
    if (find(it, path)) await answer(it, query);
  } catch (thrown) {
    reply(it, told(it, thrown));
  }
}

/** Finds the route; false when the request asked only for what may be asked, and was told. */
function find(it: Exchange, path: string): boolean {
  const { request, response, house } = it;
  const method = request.method ?? "";
  const place = house.router.find(path);
  if (place === undefined) throw new Fault("NOT_FOUND", `There is nothing at ${path.slice(0, SHOWN_CHARS)}.`);
  const matched = place.route(method);
  if (matched !== undefined) {
    it.matched = matched;
    it.surface = matched.surface;
    return true;
  }
  response.setHeader("allow", place.methods.join(", "));
  if (method !== "OPTIONS") throw new Fault("METHOD_NOT_ALLOWED", `It takes ${place.methods.join(", ")}.`);
  // Only an origin that was let in gets here.
  if (request.headers.origin !== undefined) letSend(request, response, place.methods);
  sendNothing(response, 204);
  return false;
}

const SHOWN_CHARS = 200;

async function answer(it: Exchange, query: URLSearchParams): Promise<void> {
  const { house, request, response } = it;
  const { route, params } = it.matched!;
  const verified = await recognise(request, route, house.tokens);
  if (verified !== undefined) it.caller = verified;
  const caller = verified ?? ANYBODY;
  const { requestId, traceId } = it;
  const { production, sanitiser } = house;
  const { processingMs } = house;
  const box = openBox({ request, response, route, requestId, traceId, caller, production, sanitiser, processingMs });
  const checks = house.validator(route);
  const given = checks.query(query);
  const brought = await readBody(request, response);
  const taken = takeBody(route, checks, unwrapped(route, brought));
  const { body } = taken;
  const presence = new Presence(response, verified, house.going);
  try {
    const key = repeatKey(it, caller.owner);
    const { headers } = request;
    const asked = { params, query: given, body };
    const call: Call = {
      params,
      query: given,
      body,
      caller,
      headers,
      requestId,
      key: key === undefined ? undefined : boundKey(key, asked),
      signal: presence.signal,
      tell: box.tell,
    };
    it.box = box;
    box.open();
    const work = (): Promise<Reply> => route.handle(call);
    const replied =
      key === undefined ? await work() : await house.answers.once({ key, owner: caller.owner, asked }, work);
    tellMending(box.tell, route, taken);
    if ("json" in replied) return box.result(replied);
    await stream(it, replied.stream, presence);
  } finally {
    presence.end();
  }
}

async function stream(it: Exchange, write: StreamWriter, presence: Presence): Promise<void> {
  const { response, house, request } = it;
  const before = it.box?.leave() ?? "";
  if (request.method === "HEAD") return sendNothing(response, 200);
  house.metrics.streams.inc();
  presence.leaveWhenGoing();
  try {
    await write(response, before);
    if (!response.writableEnded) response.end();
  } finally {
    house.metrics.streams.dec();
  }
}

function repeatKey({ request, matched }: Exchange, owner: string): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || request.method !== "POST") return undefined;
  if (typeof key !== "string" || key === "" || key.length > HTTP_LIMITS.keyChars)
    throw new Fault("BAD_REQUEST", `An Idempotency-Key has 1 to ${HTTP_LIMITS.keyChars} characters.`);
  return keyOf(owner, `${request.method} ${matched!.route.path}`, key);
}

/** The one place where a fault becomes an answer. */
function reply(it: Exchange, fault: Fault): void {
  const { response, request, surface, requestId } = it;
  if (response.destroyed || response.writableEnded) return;
  if (it.box?.error(fault) === true) return;
  // Half an answer cannot be taken back: cutting it off is how the client learns that there is no more.
  if (response.headersSent) return void response.destroy();
  sendFault({ request, response, fault, body: surface.faultBody(fault, requestId) });
}

/** Our own faults go to the log with their stacks; the client gets the name to look them up by. */
function told({ house, traceId, requestId }: Exchange, thrown: unknown): Fault {
  if (thrown instanceof Fault && FAULTS[thrown.code].fate !== "bug") return thrown;
  const stack = stackOf(thrown);
  house.log("http.faulted", { trace_id: traceId, request_id: requestId, stack });
  return new Fault("INTERNAL_ERROR", `${FAULTS.INTERNAL_ERROR.says} The trace is ${traceId}.`, { cause: thrown });
}

function note(it: Exchange, tookMs: number): void {
  const { house, request, response, matched, caller } = it;
  const method = matched === undefined ? "other" : (request.method ?? "");
  const path = matched?.route.path ?? "none";
  const status = response.headersSent ? response.statusCode : 0;
  const labels = { method, path, status: String(status) };
  house.metrics.requests.inc(labels);
  house.metrics.requestTime.observe(tookMs / 1000, labels);
  const runId = response.getHeader("x-run-id");
  house.log(status >= 500 ? "http.failed" : "http.answered", {
    method,
    path,
    status,
    duration_ms: Math.round(tookMs),
    request_id: it.requestId,
    trace_id: it.traceId,
    ...(caller === undefined ? {} : { owner: caller.owner, token_id: caller.tokenId }),
    ...(typeof runId === "string" ? { run_id: runId } : {}),
  });
}

/** Path and query of a request's target; RFC 9112 lets a client send the whole address, too. */
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
