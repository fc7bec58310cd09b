import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, HTTP_LIMITS } from "@vidro/core";

/*
 * What a browser wants to be told before a page of another origin may call here (the CORS protocol of the Fetch
 * standard). Cookies are never in play: a page sends its token itself, so nothing is said of credentials.
 */

/** What a page may read of an answer besides what every page may. */
const READABLE =
  "X-Request-Id, X-Run-Id, X-Next-Cursor, X-AON-Report, X-Should-Retry, Idempotency-Replayed, Retry-After";

/** Says in an answer that pages of this origin may read it, whatever the answer is. */
export function allowRead(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", READABLE);
  response.setHeader("vary", "Accept, Origin");
}

/** Answers what a browser asks before it sends a request of another origin's page: which methods and headers it may have. */
export function allowSend(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
  const { headers } = request;
  if (headers["access-control-request-method"] === undefined) return;
  response.setHeader("access-control-allow-methods", methods.join(", "));
  // Those that it asks for: clients send more of their own with every release, and no route acts on one it does not know.
  const wanted = headers["access-control-request-headers"] ?? "";
  if (HEADER_NAMES.test(wanted)) response.setHeader("access-control-allow-headers", wanted);
  if (headers["access-control-request-private-network"] === "true")
    response.setHeader("access-control-allow-private-network", "true");
  response.setHeader("access-control-max-age", String(HTTP_LIMITS.preflightS));
}

const HEADER_NAMES = /^[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*$/;

/** Origins as browsers write them; BAD_REQUEST for what is none, so that a slip of the pen does not go unnoticed. */
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
