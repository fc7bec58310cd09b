import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, HTTP_LIMITS } from "@vidro/core";

/*
 * The CORS protocol of the Fetch standard, for pages of other origins. They send a token themselves: the
 * cookie of a session counts only for pages of the brain itself, so no header about credentials is needed.
 */

/** Response headers that a page may read besides the safelisted ones. */
const READABLE =
  "X-Request-Id, X-Run-Id, X-Next-Cursor, X-AON-Report, X-Should-Retry, Idempotency-Replayed, Retry-After";

/** Lets pages of an origin read the response. */
export function allowRead(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", READABLE);
  response.setHeader("vary", "Accept, Origin");
}

/** Answers a preflight request: which methods and headers the page may send. */
export function allowSend(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
  const { headers } = request;
  if (headers["access-control-request-method"] === undefined) return;
  response.setHeader("access-control-allow-methods", methods.join(", "));
  // Any header it asks for: client libraries add headers with every release, and routes ignore unknown ones.
  const wanted = headers["access-control-request-headers"] ?? "";
  if (HEADER_NAMES.test(wanted)) response.setHeader("access-control-allow-headers", wanted);
  if (headers["access-control-request-private-network"] === "true")
    response.setHeader("access-control-allow-private-network", "true");
  response.setHeader("access-control-max-age", String(HTTP_LIMITS.preflightS));
}

const HEADER_NAMES = /^[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*$/;

/** Parses origins as browsers write them; BAD_REQUEST for anything else, so that a typing error is noticed. */
export function parseOrigins(names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const url = URL.canParse(name) ? new URL(name) : undefined;
    if (url !== undefined && url.origin !== "null" && url.href === `${url.origin}/`) return url.origin;
    throw new Fault(
      "BAD_REQUEST",
      `VIDRO_ORIGINS: ${JSON.stringify(name)} is no origin; one looks like https://app.example.`,
    );
  });
}
