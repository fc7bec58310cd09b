import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Fault, SESSION_LIMITS } from "@vidro/core";

/*
 * The cookie of a browser's session. Cookies do not tell ports apart, so the name has the port: two brains on one
 * machine do not sign each other's visitors out.
 */

/** The session's secret in the cookie of a request without `Authorization`; FORBIDDEN when no page of ours sent it. */
export function sessionIn(request: Pick<IncomingMessage, "headers" | "method">): string | undefined {
  const { headers } = request;
  if (headers.authorization !== undefined) return undefined;
  const secret = sessionCookie(headers);
  if (secret !== undefined) refuseForeignPage(request);
  return secret;
}

/** The session's secret in the cookies of a request. */
export function sessionCookie({ cookie = "", host = "" }: IncomingHttpHeaders): string | undefined {
  const names = [cookieName(host, true), cookieName(host, false)];
  for (const pair of cookie.slice(0, SESSION_LIMITS.cookieChars).split(";")) {
    const [name = "", value = ""] = pair.trim().split("=");
    if (names.includes(name) && /^[\w-]{1,128}$/.test(value)) return value;
  }
  return undefined;
}

/** The `Set-Cookie` header that gives a session to the page that asks for it, or takes it away with a life of 0. */
export function sessionHeader(headers: IncomingHttpHeaders, secret: string, lifeMs: number): string {
  const isSecure = headers.origin?.startsWith("https:") === true;
  const parts = [
    `${cookieName(headers.host ?? "", isSecure)}=${secret}`,
    "Path=/",
    `Max-Age=${Math.floor(lifeMs / 1000)}`,
    "HttpOnly",
    "SameSite=Strict",
  ];
  return [...parts, ...(isSecure ? ["Secure"] : [])].join("; ");
}

function cookieName(host: string, isSecure: boolean): string {
  return isSecure ? "__Host-vidro-session" : `vidro-session-${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;
}

/**
 * Refuses a request that a page of another origin makes with our cookie. `SameSite` does not see ports, so a page that
 * another program of this machine serves counts as the same site: the headers that browsers add decide.
 */
function refuseForeignPage({ headers, method = "" }: Pick<IncomingMessage, "headers" | "method">): void {
  const site = headers["sec-fetch-site"] ?? "same-origin";
  const isRead = method === "GET" || method === "HEAD";
  const isOurs = isRead ? headers.origin === undefined || isOwn(headers) : isOwn(headers);
  if (isOurs && (site === "same-origin" || site === "none")) return;
  throw new Fault("FORBIDDEN", "A session counts only for the pages of this brain.");
}

function isOwn({ origin = "", host = "" }: IncomingHttpHeaders): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
