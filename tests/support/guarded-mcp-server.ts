import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

/** An MCP server that answers only with a token, and the authorization server that gives it. */
export interface GuardedServer {
  readonly url: string;
  /** Grants of the token endpoint, in order. */
  readonly grants: string[];
}

/** Starts both on one address; each token is accepted until the next one is given. */
export async function startGuardedServer(t: TestContext): Promise<GuardedServer> {
  const grants: string[] = [];
  const challenges = new Map<string, string>();
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const url = new URL(request.url ?? "/", origin);
    const json = (value: object, status = 200, headers: object = {}): unknown =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    const token = (fields: URLSearchParams): unknown => {
      const proof = createHash("sha256")
        .update(fields.get("code_verifier") ?? "")
        .digest("base64url");
      const isCode = fields.get("grant_type") === "authorization_code";
      const isRight = isCode
        ? challenges.get(fields.get("code") ?? "") === proof
        : fields.get("refresh_token") === "again";
      if (!isRight) return json({ error: "invalid_grant" }, 400);
      grants.push(fields.get("grant_type") ?? "");
      return json({
        access_token: `token-${grants.length}`,
        refresh_token: "again",
        expires_in: 1,
        token_type: "Bearer",
      });
    };
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    if (url.pathname === "/mcp") {
      if (request.headers.authorization !== `Bearer token-${grants.length}`)
        return json({}, 401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
      return void answer(request).then((message) =>
        message === undefined ? response.writeHead(202).end() : json(message),
      );
    }
    if (url.href === metadata) return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (url.pathname === "/.well-known/oauth-authorization-server")
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    if (url.pathname === "/register") return json({ client_id: "hand" }, 201);
    if (url.pathname === "/token") return void text(request).then((body) => token(new URLSearchParams(body)));
    if (url.pathname !== "/authorize") return json({}, 404);
    challenges.set("code-1", url.searchParams.get("code_challenge") ?? "");
    const back = new URL(url.searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("code", "code-1");
    back.searchParams.set("state", url.searchParams.get("state") ?? "");
    return response.writeHead(302, { location: back.href }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, grants };
}

async function answer(request: IncomingMessage): Promise<object | undefined> {
  const { id, method, params } = JSON.parse(await text(request)) as {
    id?: number;
    method: string;
    params: { protocolVersion?: string };
  };
  if (id === undefined) return undefined;
  const results: { readonly [method: string]: object } = {
    initialize: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: "guarded" } },
    "tools/list": { tools: [{ name: "open", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "opened" }] },
  };
  const result = results[method];
  if (result === undefined) return { jsonrpc: "2.0", id, error: { code: -32_601, message: "no" } };
  return { jsonrpc: "2.0", id, result };
}
