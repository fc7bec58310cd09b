import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault, textIn } from "@vidro/core";
import { findSignInPlace, readJson } from "./oauth-metadata.ts";
import type { AuthorizationServer } from "./oauth-metadata.ts";

/** This hand as an authorization server knows it. */
interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
}

/** A token of a server, and what renews it. */
export interface OAuthGrant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly client: OAuthClient;
  /** How the client proves itself at the token endpoint. */
  readonly method: string;
  readonly tokenEndpoint: string;
  readonly resource: string;
}

/** How a person signs in. */
interface SignInOptions {
  /** Shows the person the link to open. */
  readonly open: (link: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Has a person sign in for an MCP server: registers this hand, shows a link, waits for the browser to come back to this
 * machine, and exchanges the code. Throws TOOL_FAILED with the reason.
 */
export async function signIn(url: string, { open, signal }: SignInOptions): Promise<OAuthGrant> {
  const { server, resource, scope } = await findSignInPlace(url);
  const callback = await listenForCode(signal);
  try {
    const redirect = callback.address;
    const client = await register(server, redirect);
    const [verifier, state] = [randomText(), randomText()];
    const link = new URL(server.authorizationEndpoint);
    const words = {
      response_type: "code",
      client_id: client.id,
      redirect_uri: redirect,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state,
      resource,
      ...scopeField(scope, server),
    };
    for (const [name, value] of Object.entries(words)) link.searchParams.set(name, value);
    open(link.href);
    const code = readCode(await callback.answer, state, server);
    const method = methodOf(client, server);
    const about = { client, method, tokenEndpoint: server.tokenEndpoint, resource };
    return await askForToken(about, {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirect,
      code_verifier: verifier,
    });
  } finally {
    callback.close();
  }
}

/** Asks for a token, and keeps what renews it. */
export async function askForToken(
  about: Pick<OAuthGrant, "client" | "method" | "tokenEndpoint" | "resource" | "refreshToken">,
  fields: { readonly [name: string]: string },
): Promise<OAuthGrant> {
  const { client, method, tokenEndpoint, resource } = about;
  const body = new URLSearchParams({ ...fields, resource });
  const headers: { [name: string]: string } = {
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
  };
  if (method === "client_secret_basic") {
    const [id, secret] = [client.id, client.secret ?? ""].map((word) => encodeURIComponent(word));
    headers["authorization"] = `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
  } else {
    body.set("client_id", client.id);
    if (method === "client_secret_post") body.set("client_secret", client.secret ?? "");
  }
  const answer = await readJson(tokenEndpoint, { method: "POST", headers, body });
  const accessToken = textIn(answer, "access_token");
  if (accessToken === undefined) throw new Fault("TOOL_FAILED", "The authorization server gave no token.");
  const { expires_in: lifeS } = answer;
  const refreshToken = textIn(answer, "refresh_token") ?? about.refreshToken;
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(typeof lifeS === "number" ? { expiresAt: Date.now() + lifeS * 1000 } : {}),
    client,
    method,
    tokenEndpoint,
    resource,
  };
}

async function register(server: AuthorizationServer, redirect: string): Promise<OAuthClient> {
  if (server.registrationEndpoint === undefined)
    throw new Fault(
      "TOOL_FAILED",
      `The authorization server ${server.issuer} registers no clients: put a token into mcp.json.`,
    );
  const wanted = ["none", "client_secret_basic", "client_secret_post"].find((each) =>
    server.authMethods.includes(each),
  );
  const body = JSON.stringify({
    client_name: "Vidro",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "native",
    token_endpoint_auth_method: wanted ?? "client_secret_basic",
  });
  const headers = { "content-type": "application/json", accept: "application/json" };
  const answer = await readJson(server.registrationEndpoint, { method: "POST", headers, body });
  const [id, secret] = [textIn(answer, "client_id"), textIn(answer, "client_secret")];
  if (id === undefined) throw new Fault("TOOL_FAILED", `${server.issuer} has not registered this hand.`);
  return { id, ...(secret === undefined ? {} : { secret }) };
}

function methodOf({ secret }: OAuthClient, { authMethods }: AuthorizationServer): string {
  if (secret === undefined) return "none";
  if (authMethods.includes("client_secret_post") && !authMethods.includes("client_secret_basic"))
    return "client_secret_post";
  return authMethods.includes("none") && !authMethods.includes("client_secret_basic") ? "none" : "client_secret_basic";
}

/** The scope to ask for, with the right to renew tokens where there is one. */
function scopeField(scope: string | undefined, { scopes }: AuthorizationServer): { readonly scope?: string } {
  const renewing = scopes.includes("offline_access") ? ["offline_access"] : [];
  const all = [...new Set([...(scope?.split(" ") ?? []), ...renewing])];
  return all.length === 0 ? {} : { scope: all.join(" ") };
}

/** The code in the address that the browser came back to; refuses one of another request or server. */
function readCode(answer: URLSearchParams, state: string, server: AuthorizationServer): string {
  if (answer.get("state") !== state) throw new Fault("TOOL_FAILED", "The browser came back from another sign-in.");
  const issuer = answer.get("iss");
  if (issuer === null ? server.namesItself : issuer !== server.issuer)
    throw new Fault("TOOL_FAILED", "The browser came back from another authorization server.");
  const code = answer.get("code");
  if (code !== null) return code;
  throw new Fault("TOOL_FAILED", `The sign-in failed: ${(answer.get("error") ?? "no code came").slice(0, 200)}`);
}

/** A page of this machine that the browser comes back to. */
async function listenForCode(signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  promise.catch(() => undefined);
  const server = createServer((request, response) => {
    // Every program and page of this machine can ask here, also for what is no address.
    const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
    const isAnswer = url?.pathname === "/callback";
    response.writeHead(isAnswer ? 200 : 404, { "content-type": "text/plain", connection: "close" });
    response.end(isAnswer ? "This page can be closed.\n" : "");
    if (url !== null && isAnswer) resolve(url.searchParams);
  });
  signal.addEventListener("abort", () => reject(new Fault("TOOL_FAILED", "No browser came back in time.")));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}/callback`, answer: promise, close };
}

function randomText(): string {
  return randomBytes(32).toString("base64url");
}
