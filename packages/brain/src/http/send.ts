import type { IncomingMessage, ServerResponse } from "node:http";
import { FAULTS, HTTP_LIMITS } from "@vidro/core";
import type { Fault, Json } from "@vidro/core";
import { hasBody } from "./body.ts";

/** What every answer carries; a route that serves a page says itself what that page may load. */
const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cache-control", "no-store"],
  ["vary", "Accept"],
];

/** Two years, as browsers ask for. */
const STRICT_TRANSPORT = "max-age=63072000";

/** Puts on the headers that keep a browser from doing more with an answer than it is meant for. */
export function setSecurityHeaders(response: ServerResponse, scheme: "http" | "https"): void {
  for (const [name, value] of HEADERS) response.setHeader(name, value);
  if (scheme === "https") response.setHeader("strict-transport-security", STRICT_TRANSPORT);
}

/** Sends a JSON value as the whole answer; a client that does not take it in time is cut off. */
export function send(response: ServerResponse, status: number, json: Json): void {
  const bytes = lay(response, status, json);
  response.end(bytes);
}

/** Sends a status and no body. */
export function sendNothing(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** A fault on its way out. */
interface FaultReply {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fault: Fault;
  readonly body: Json;
}

/** Sends a fault with the headers that its status asks for. */
export function sendFault({ request, response, fault, body }: FaultReply): void {
  const status = FAULTS[fault.code].http;
  if (status === 401) response.setHeader("www-authenticate", challenge(fault));
  if (fault.retryAfterMs !== undefined) response.setHeader("retry-after", String(Math.ceil(fault.retryAfterMs / 1000)));
  // Clients of the chat wire repeat by themselves what ended with 409, 429 or 5xx. That is good only where nothing was
  // begun, or where what was begun is found again; a run that failed would be run again.
  response.setHeader("x-should-retry", String(fault.retryAfterMs !== undefined));
  if (request.complete || !hasBody(request)) send(response, status, body);
  else linger(request, response, () => lay(response, status, body));
}

function challenge({ code }: Fault): string {
  return code === "AUTH_REQUIRED" ? 'Bearer realm="vidro"' : 'Bearer realm="vidro", error="invalid_token"';
}

function lay(response: ServerResponse, status: number, json: Json): Buffer {
  const bytes = Buffer.from(JSON.stringify(json));
  response.statusCode = status;
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.setHeader("content-length", bytes.length);
  const impatience = setTimeout(() => response.destroy(), HTTP_LIMITS.answeredMs).unref();
  response.once("close", () => clearTimeout(impatience));
  return bytes;
}

/**
 * Answers a client that is still sending. Closing at once would reset the connection and take the answer with it, so
 * what still comes is dropped for a moment, and then no more.
 */
function linger(request: IncomingMessage, response: ServerResponse, answer: () => Buffer): void {
  response.setHeader("connection", "close");
  response.write(answer());
  const close = (): void => {
    clearTimeout(patience);
    response.end();
  };
  const patience = setTimeout(close, HTTP_LIMITS.lingerMs);
  request.once("end", close).once("close", close).resume();
}
