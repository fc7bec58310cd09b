import { asFault, Fault, isObject, MOUNT_LIMITS, textIn } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";

/** What is known of the authorization server of an MCP server. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  /** It names itself in its answer to the browser. */
  readonly namesItself: boolean;
  readonly authMethods: readonly string[];
  readonly scopes: readonly string[];
}

/** Where a person signs in for an MCP server, and for what. */
interface SignInPlace {
  readonly server: AuthorizationServer;
  /** The resource that tokens are asked for. */
  readonly resource: string;
  readonly scope: string | undefined;
}

/** Finds the authorization server of an MCP server by the metadata that the server names; throws TOOL_FAILED. */
export async function findSignInPlace(url: string): Promise<SignInPlace> {
  const challenge = await challengeOf(url);
  const { origin, pathname } = new URL(url);
  const places = [
    challenge.metadata,
    `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`,
    `${origin}/.well-known/oauth-protected-resource`,
  ].filter((place) => place !== undefined);
  const found = await firstDocument(places);
  if (found === undefined) throw signInFault(`${url} does not say where to sign in.`);
  const resource = textIn(found, "resource") ?? url;
  // A token for another resource could be used there by this server.
  if (!isPartOf(url, resource)) throw signInFault(`${url} names ${resource} as its resource, which is another place.`);
  const [issuer] = textsIn(found, "authorization_servers");
  if (issuer === undefined) throw signInFault(`${url} names no authorization server.`);
  const server = await readAuthorizationServer(issuer);
  const scopes = textsIn(found, "scopes_supported");
  const wanted = challenge.scope ?? (scopes.length === 0 ? undefined : scopes.join(" "));
  return { server, resource, scope: wanted };
}

async function readAuthorizationServer(issuer: string): Promise<AuthorizationServer> {
  const { origin, pathname } = new URL(httpAddress(issuer));
  const path = pathname === "/" ? "" : pathname;
  const found = await firstDocument([
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === "" ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ]);
  if (found === undefined) throw signInFault(`The authorization server ${issuer} does not describe itself.`);
  const said = textIn(found, "issuer") ?? "";
  if (said !== issuer && said !== issuer.replace(/\/$/, ""))
    throw signInFault(`The authorization server ${issuer} calls itself ${said.slice(0, 200)}.`);
  const [authorizationEndpoint, tokenEndpoint] = [
    textIn(found, "authorization_endpoint"),
    textIn(found, "token_endpoint"),
  ];
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
    throw signInFault(`The authorization server ${issuer} names no endpoints.`);
  if (!textsIn(found, "code_challenge_methods_supported").includes("S256"))
    throw signInFault(`The authorization server ${issuer} does not protect codes (PKCE with S256).`);
  return {
    issuer: said,
    authorizationEndpoint: httpAddress(authorizationEndpoint),
    tokenEndpoint: httpAddress(tokenEndpoint),
    registrationEndpoint: textIn(found, "registration_endpoint"),
    namesItself: found["authorization_response_iss_parameter_supported"] === true,
    authMethods: textsIn(found, "token_endpoint_auth_methods_supported"),
    scopes: textsIn(found, "scopes_supported"),
  };
}

/** How a server refuses a request without a token: where its metadata is, and the scope that it wants. */
async function challengeOf(url: string): Promise<{ readonly metadata?: string; readonly scope?: string }> {
  const signal = AbortSignal.timeout(MOUNT_LIMITS.probeMs);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const response = await fetchFrom(url, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  const said = response.headers.get("www-authenticate") ?? "";
  const parameter = (name: string): string | undefined => new RegExp(`${name}="([^"]*)"`).exec(said)?.[1];
  const [metadata, scope] = [parameter("resource_metadata"), parameter("scope")];
  return { ...(metadata === undefined ? {} : { metadata }), ...(scope === undefined ? {} : { scope }) };
}

/** The first of these addresses at which there is a document. */
async function firstDocument(places: readonly string[]): Promise<JsonObject | undefined> {
  for (const place of places) {
    const document = await readJson(httpAddress(place), {}).catch(() => undefined);
    if (document !== undefined) return document;
  }
  return undefined;
}

/** A JSON object at an address, of a bounded size; rejects with TOOL_FAILED when the answer is another. */
export async function readJson(address: string, init: RequestInit): Promise<JsonObject> {
  const response = await fetchFrom(address, { signal: AbortSignal.timeout(MOUNT_LIMITS.openMs), ...init });
  const text = await readText(response).catch((thrown: unknown) => {
    throw thrown instanceof Fault ? thrown : signInFault(`${address} broke off: ${asFault(thrown).message}`);
  });
  if (!response.ok) throw signInFault(`${address} answers ${response.status}: ${text.slice(0, 200)}`);
  const value = objectIn(text);
  if (value === undefined) throw signInFault(`${address} gives no JSON object.`);
  return value;
}

/** The answer of an address; no redirection is followed, since it could lead secrets elsewhere. */
async function fetchFrom(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { redirect: "error", ...init });
  } catch (thrown) {
    const why = asFault((thrown as Error).cause ?? thrown).message;
    throw new Fault("TOOL_FAILED", `${address} does not answer: ${why}`, { cause: thrown });
  }
}

/** The text of an answer, read only as far as the bound. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOUNT_LIMITS.schemaBytes)
      throw signInFault(`${response.url} gives more than ${MOUNT_LIMITS.schemaBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: Json = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An address that may be connected to: https, or http on this machine. */
function httpAddress(text: string): string {
  const url = URL.parse(text);
  const isOwn = url !== null && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isOwn)))
    throw signInFault(`${text.slice(0, 200)} is not an address by https.`);
  return url.href;
}

function isPartOf(url: string, resource: string): boolean {
  const [whole, part] = [URL.parse(url), URL.parse(resource)];
  if (whole === null || part === null || whole.origin !== part.origin) return false;
  const folder = part.pathname.endsWith("/") ? part.pathname : `${part.pathname}/`;
  return `${whole.pathname}/`.startsWith(folder);
}

function textsIn(object: JsonObject, field: string): readonly string[] {
  const { [field]: value } = object;
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function signInFault(message: string): Fault {
  return new Fault("TOOL_FAILED", message);
}
