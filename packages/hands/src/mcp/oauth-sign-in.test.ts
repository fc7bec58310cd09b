import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { MOUNT_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { signIn } from "./oauth-sign-in.ts";
import type { OAuthGrant } from "./oauth-sign-in.ts";
import { OAuthTokens } from "./oauth-tokens.ts";

/** What the authorization server says of itself, and what it gives. */
interface Guard {
  readonly about?: object;
  readonly client?: object;
  readonly token?: (fields: URLSearchParams) => object | number;
}

/** An MCP server that wants a token, and its authorization server, on one address. */
async function guard(t: TestContext, { about = {}, client = { client_id: "hand" }, token }: Guard = {}) {
  const asked: { path: string; body: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url ?? "";
      asked.push({ path, body, authorization: request.headers.authorization });
      const give = (value: object | number): unknown =>
        typeof value === "number" ? response.writeHead(value).end() : response.end(JSON.stringify(value));
      if (path.includes("protected-resource")) return give({ resource: url, authorization_servers: [origin] });
      if (path.includes("authorization-server"))
        return give({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize?tenant=1`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          ...about,
        });
      if (path === "/register") return give(client);
      if (path === "/token")
        return give(token?.(new URLSearchParams(body)) ?? { access_token: "t1", refresh_token: "r1", expires_in: 60 });
      return give(401);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  return { url, origin, asked, bodyAt: (path: string) => asked.find((one) => one.path === path) };
}

/** Signs in as a browser that comes back with what `answer` makes of the link. */
async function signInWith(url: string, answer: (link: URL) => { readonly [name: string]: string }) {
  const links: URL[] = [];
  const grant = await signIn(url, {
    signal: AbortSignal.timeout(60_000),
    open: (shown) => {
      const link = new URL(shown);
      links.push(link);
      const back = new URL(link.searchParams.get("redirect_uri") ?? "");
      for (const [name, value] of Object.entries(answer(link))) back.searchParams.set(name, value);
      void fetch(back).then((response) => response.text());
    },
  });
  return { grant, link: links[0] as URL };
}

const accept = (link: URL) => ({ state: link.searchParams.get("state") ?? "", code: "c1" });

describe("signing in at an MCP server", () => {
  it("shows a link with a protected code, and exchanges the code for a token of this resource", async (t) => {
    const { url, origin, bodyAt } = await guard(t, { about: { scopes_supported: ["offline_access"] } });
    const before = Date.now();
    const { grant, link } = await signInWith(url, accept);
    assert.equal(link.searchParams.get("tenant"), "1");
    assert.equal(link.searchParams.get("response_type"), "code");
    assert.equal(link.searchParams.get("resource"), url);
    assert.equal(link.searchParams.get("scope"), "offline_access");
    const fields = new URLSearchParams(bodyAt("/token")?.body);
    const proof = createHash("sha256")
      .update(fields.get("code_verifier") ?? "")
      .digest("base64url");
    assert.equal(link.searchParams.get("code_challenge"), proof);
    assert.deepEqual(
      ["grant_type", "code", "client_id", "resource"].map((name) => fields.get(name)),
      ["authorization_code", "c1", "hand", url],
    );
    assert.equal(fields.get("redirect_uri"), link.searchParams.get("redirect_uri"));
    const { expiresAt = 0, ...rest } = grant;
    assert.ok(expiresAt >= before + 60_000 && expiresAt <= Date.now() + 60_000);
    assert.deepEqual(rest, {
      accessToken: "t1",
      refreshToken: "r1",
      client: { id: "hand" },
      method: "none",
      tokenEndpoint: `${origin}/token`,
      resource: url,
    });
  });

  it("registers this hand for addresses of this machine only", async (t) => {
    const { url, bodyAt } = await guard(t);
    await signInWith(url, accept);
    const registered = JSON.parse(bodyAt("/register")?.body ?? "") as { redirect_uris: string[] };
    assert.equal(registered.redirect_uris.length, 1);
    assert.match(registered.redirect_uris[0] ?? "", /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  });

  it("proves a client with a secret in the way that the server takes", async (t) => {
    const client = { client_id: "a:b", client_secret: "s%t" };
    const methods = (...names: string[]): object => ({ token_endpoint_auth_methods_supported: names });
    const basic = await guard(t, { client, about: methods("client_secret_basic", "client_secret_post") });
    const { grant } = await signInWith(basic.url, accept);
    const expected = Buffer.from("a%3Ab:s%25t").toString("base64");
    assert.equal(grant.method, "client_secret_basic");
    assert.equal(basic.bodyAt("/token")?.authorization, `Basic ${expected}`);
    const post = await guard(t, { client, about: methods("client_secret_post") });
    await signInWith(post.url, accept);
    const fields = new URLSearchParams(post.bodyAt("/token")?.body);
    assert.deepEqual([fields.get("client_id"), fields.get("client_secret")], ["a:b", "s%t"]);
    assert.equal(post.bodyAt("/token")?.authorization, undefined);
    const none = await guard(t, { client, about: methods("none") });
    assert.equal((await signInWith(none.url, accept)).grant.method, "none");
  });

  it("refuses a browser that comes back from another sign-in or another server", async (t) => {
    const { url, origin } = await guard(t, { about: { authorization_response_iss_parameter_supported: true } });
    await assert.rejects(
      signInWith(url, () => ({ state: "other", code: "c1" })),
      { message: /from another sign-in/ },
    );
    await assert.rejects(
      signInWith(url, (link) => ({ ...accept(link), iss: "https://evil.example" })),
      { message: /from another authorization server/ },
    );
    await assert.rejects(signInWith(url, accept), { message: /from another authorization server/ });
    const { grant } = await signInWith(url, (link) => ({ ...accept(link), iss: origin }));
    assert.equal(grant.accessToken, "t1");
  });

  it("says why a sign-in failed: the person, the code, or the server", async (t) => {
    const { url } = await guard(t);
    await assert.rejects(
      signInWith(url, (link) => ({ state: link.searchParams.get("state") ?? "", error: "access_denied" })),
      { code: "TOOL_FAILED", message: "The sign-in failed: access_denied" },
    );
    const refusing = await guard(t, { token: () => 400 });
    await assert.rejects(signInWith(refusing.url, accept), { message: /\/token answers 400/ });
    const empty = await guard(t, { token: () => ({}) });
    await assert.rejects(signInWith(empty.url, accept), { message: "The authorization server gave no token." });
    const closed = await guard(t, { about: { registration_endpoint: undefined } });
    await assert.rejects(signInWith(closed.url, accept), {
      message: /registers no clients: put a token into mcp\.json/,
    });
    const nameless = await guard(t, { client: {} });
    await assert.rejects(signInWith(nameless.url, accept), { message: /has not registered this hand/ });
  });

  it("ends when no browser comes back in time, and passes over other pages that are asked for", async (t) => {
    const { url } = await guard(t);
    const stop = new AbortController();
    const statuses: number[] = [];
    const open = async (shown: string): Promise<void> => {
      const back = new URL(new URL(shown).searchParams.get("redirect_uri") ?? "");
      statuses.push((await fetch(new URL("/favicon.ico", back))).status);
      stop.abort();
    };
    const options = { signal: stop.signal, open: (link: string) => void open(link) };
    await assert.rejects(signIn(url, options), { message: "No browser came back in time." });
    assert.deepEqual(statuses, [404]);
  });
});

describe("tokens of servers", () => {
  const SERVER = { name: "s", url: "https://example.test/mcp" };
  const grantOf = (tokenEndpoint: string, more: Partial<OAuthGrant> = {}): OAuthGrant => ({
    accessToken: "old",
    client: { id: "hand" },
    method: "none",
    tokenEndpoint,
    resource: SERVER.url,
    ...more,
  });

  it("are kept for their address only, in a file that only its user reads", async (t) => {
    const file = join(scratch(t), "tokens.json");
    const tokens = new OAuthTokens(file);
    assert.equal(await tokens.find(SERVER), undefined);
    tokens.keep(SERVER, grantOf("https://example.test/token"));
    tokens.keep({ name: "other", url: "https://other.test" }, grantOf("https://other.test/token"));
    assert.equal(await new OAuthTokens(file).find(SERVER), "old");
    assert.equal(await tokens.find({ ...SERVER, url: "https://evil.test/mcp" }), undefined);
    assert.equal(await tokens.find({ ...SERVER, name: "third" }), undefined);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it("are renewed when their time is nearly over, and a new token to renew with takes the place of the old one", async (t) => {
    const renewals = ["r2", undefined];
    const { origin, asked } = await guard(t, {
      token: () => ({ access_token: `t${asked.length}`, expires_in: 1, refresh_token: renewals.shift() }),
    });
    const file = join(scratch(t), "tokens.json");
    const tokens = new OAuthTokens(file);
    const soon = Date.now() + MOUNT_LIMITS.renewMs / 2;
    tokens.keep(SERVER, grantOf(`${origin}/token`, { refreshToken: "r1", expiresAt: soon }));
    assert.equal(await tokens.find(SERVER), "t1");
    assert.equal(await tokens.find(SERVER), "t2");
    assert.deepEqual(
      asked.map(({ body }) => new URLSearchParams(body).get("refresh_token")),
      ["r1", "r2"],
    );
    const kept = JSON.parse(readFileSync(file, "utf8")) as { s: { refreshToken: string } };
    assert.equal(kept.s.refreshToken, "r2");
  });

  it("are used as they are while there is time, or when nothing renews them", async (t) => {
    const tokens = new OAuthTokens(join(scratch(t), "tokens.json"));
    const later = Date.now() + 10 * MOUNT_LIMITS.renewMs;
    tokens.keep(SERVER, grantOf("http://127.0.0.1:1/token", { refreshToken: "r1", expiresAt: later }));
    assert.equal(await tokens.find(SERVER), "old");
    tokens.keep(SERVER, grantOf("http://127.0.0.1:1/token", { expiresAt: 1 }));
    assert.equal(await tokens.find(SERVER), "old");
  });

  it("that cannot be renewed are a fault that says why", async (t) => {
    const { origin } = await guard(t, { token: () => 400 });
    const tokens = new OAuthTokens(join(scratch(t), "tokens.json"));
    tokens.keep(SERVER, grantOf(`${origin}/token`, { refreshToken: "r1", expiresAt: 1 }));
    await assert.rejects(tokens.find(SERVER), { code: "TOOL_FAILED", message: /\/token answers 400/ });
  });
});

describe("what else happens on a host while it signs in", () => {
  it("does not end the sign-in: programs that ask its page for what is no address, or for other pages", async (t) => {
    const { url } = await guard(t);
    const answers: string[] = [];
    const grant = await signIn(url, {
      signal: AbortSignal.timeout(60_000),
      open: (shown) => {
        const link = new URL(shown);
        const back = new URL(link.searchParams.get("redirect_uri") ?? "");
        const strange = ["//", "///", "http://[", "/", "/callback/", "/other?code=c&state=s", "*"];
        void (async () => {
          for (const path of strange) answers.push(await askRaw(back, path));
          for (const [name, value] of Object.entries(accept(link))) back.searchParams.set(name, value);
          await fetch(back).then((response) => response.text());
        })();
      },
    });
    assert.equal(grant.accessToken, "t1");
    assert.equal(answers.length, 7);
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 4/);
  });
});

/** The answer to a request for a path as it is written. */
async function askRaw({ hostname, port }: URL, path: string): Promise<string> {
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

describe("a token that is renewed", () => {
  it("is renewed once for all calls that need it at once, and each of them gets the new one", async (t) => {
    let asked = 0;
    const { url, origin } = await guard(t, {
      token: (fields) => {
        asked += 1;
        // A server that takes a token for renewal once, and revokes everything when it comes again.
        return fields.get("refresh_token") === `r${asked}`
          ? { access_token: `t${asked + 1}`, refresh_token: `r${asked + 1}`, expires_in: 3600 }
          : 400;
      },
    });
    const tokens = new OAuthTokens(join(scratch(t), "tokens.json"));
    const place = { name: "s", url };
    const grant = { client: { id: "hand" }, method: "none", tokenEndpoint: `${origin}/token`, resource: url };
    tokens.keep(place, { ...grant, accessToken: "t1", refreshToken: "r1", expiresAt: Date.now() });
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => tokens.find(place))), ["t2", "t2", "t2"]);
    assert.equal(asked, 1);
    assert.equal(await tokens.find(place), "t2");
    tokens.keep(place, { ...grant, accessToken: "t2", refreshToken: "r2", expiresAt: Date.now() });
    assert.equal(await tokens.find(place), "t3");
    assert.equal(asked, 2);
  });

  it("is tried anew by the next call when its renewal failed", async (t) => {
    let answers = [500, 500];
    const { url, origin } = await guard(t, {
      token: () => answers.pop() ?? { access_token: "t2", expires_in: 3600 },
    });
    const tokens = new OAuthTokens(join(scratch(t), "tokens.json"));
    const grant = { client: { id: "hand" }, method: "none", tokenEndpoint: `${origin}/token`, resource: url };
    for (const name of ["s", "constructor", "__proto__"]) {
      answers = [500];
      const place = { name, url };
      assert.equal(await tokens.find(place), undefined);
      tokens.keep(place, { ...grant, accessToken: "t1", refreshToken: "r1", expiresAt: Date.now() });
      const failed = await Promise.allSettled([tokens.find(place), tokens.find(place)]);
      assert.deepEqual(
        failed.map(({ status }) => status),
        ["rejected", "rejected"],
      );
      assert.equal(await tokens.find(place), "t2");
    }
  });
});
