import type { IncomingMessage } from "node:http";
import { Fault, TOKEN_LIMITS } from "@vidro/core";
import type { Sessions } from "../auth/sessions.ts";
import type { Tokens } from "../auth/tokens.ts";
import { grants } from "../auth/scopes.ts";
import type { Caller } from "../auth/caller.ts";
import type { Route } from "./route.ts";
import { sessionIn } from "./session-cookie.ts";
import type { VerifiedCaller } from "../auth/caller.ts";

/** The host names that this server answers to, and the origins whose pages may call it. */
export interface AllowedHosts {
  /** Host names without ports; a foreign name that resolves to this machine (DNS rebinding) is not in this set. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of pages besides our own. */
  readonly origins: ReadonlySet<string>;
  readonly scheme: "http" | "https";
}

/** The caller of a route that needs no token. */
export const ANONYMOUS: Caller = { owner: "", tokenId: "", scopes: new Set(), admin: false };

/**
 * Refuses a request for another host name, and one that a browser sends for a page of another origin, whatever the
 * method, unless the origin is allowed. Returns that origin.
 */
export function admitRequest(request: IncomingMessage, allowed: AllowedHosts): string | undefined {
  const [host = "", second] = request.headersDistinct["host"] ?? [];
  if (second !== undefined) throw new Fault("BAD_REQUEST", "A request has one Host header.");
  const name = hostName(host);
  if (!allowed.hosts.has(name) && name !== localName(request))
    throw new Fault("MISDIRECTED", `This brain does not answer to the host name ${JSON.stringify(name)}.`);
  const { origin } = request.headers;
  if (origin === undefined || origin === `${allowed.scheme}://${host.toLowerCase()}`) return undefined;
  if (allowed.origins.has(origin)) return origin;
  throw new Fault(
    "FORBIDDEN",
    `Pages of ${JSON.stringify(origin)} may not call this brain; VIDRO_ORIGINS names those that may.`,
  );
}

/** What verifies callers: their tokens and, where a browser may call, their sessions. */
interface CallerChecks {
  readonly tokens: Pick<Tokens, "verify">;
  readonly sessions?: Pick<Sessions, "verify"> | undefined;
}

/** Verifies the token or session of a request and its scope; undefined where the route needs no token. */
export async function authenticate(
  request: IncomingMessage,
  route: Pick<Route, "scope">,
  { tokens, sessions }: CallerChecks,
): Promise<VerifiedCaller | undefined> {
  const { scope } = route;
  if (scope === undefined) return undefined;
  const session = sessions === undefined ? undefined : sessionIn(request);
  const verified =
    session === undefined || sessions === undefined
      ? await tokens.verify(bearerOf(request))
      : await sessions.verify(session);
  if (!grants(verified.scopes, scope)) throw new Fault("FORBIDDEN", `scope ${scope} required`);
  return verified;
}

function bearerOf({ headers }: IncomingMessage): string {
  const token = tokenIn(headers.authorization ?? "");
  if (token !== undefined && token.length <= TOKEN_LIMITS.chars) return token;
  throw new Fault(
    "AUTH_REQUIRED",
    "A token is needed: send it as `Authorization: Bearer <token>`, or as the password of Basic authentication.",
  );
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;
const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/** The token of an `Authorization` header: that of Bearer, or the password of Basic, whatever its user is called. */
function tokenIn(authorization: string): string | undefined {
  const [, bearer] = BEARER.exec(authorization) ?? [];
  const [, basic] = BASIC.exec(authorization) ?? [];
  if (basic === undefined) return bearer;
  const [, password] = /^[^:]*:([\x21-\x7e]+)$/.exec(Buffer.from(basic, "base64").toString("utf8")) ?? [];
  return password;
}

/** The name in a `Host` header, in lower case, without its port and without the brackets of an IPv6 address. */
function hostName(host: string): string {
  const [, six, name] = /^(?:\[([\da-f:.]+)\]|([^:]*))(?::\d*)?$/i.exec(host) ?? [];
  return (six ?? name ?? "").toLowerCase();
}

/** The IP address that the client dialled; an address cannot be rebound, so it is always allowed. */
function localName({ socket }: IncomingMessage): string | undefined {
  return socket.localAddress?.replace(/^::ffff:/, "");
}
