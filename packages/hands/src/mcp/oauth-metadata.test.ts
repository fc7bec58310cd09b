import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { MOUNT_LIMITS } from "@vidro/core";
import { findSignInPlace, readJson } from "./oauth-metadata.ts";

type Pages = (origin: string) => { readonly [path: string]: object | ((response: ServerResponse) => void) };

/** Serves documents by their path; everything else is refused with 401, or with 404 below /.well-known. */
async function serve(t: TestContext, pages: Pages, challenge?: (origin: string) => string) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { [request.url ?? ""]: page } = pages(origin());
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    if (typeof page === "function") return page(response);
    if (page !== undefined) return void response.end(JSON.stringify(page));
    const isPage = request.url?.startsWith("/.well-known") === true;
    response.writeHead(isPage ? 404 : 401, challenge === undefined ? {} : { "www-authenticate": challenge(origin()) });
    response.end();
  });
  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `${origin()}/mcp`, origin: origin(), asked };
}

const RESOURCE = "/.well-known/oauth-protected-resource";
const AUTHORIZATION = "/.well-known/oauth-authorization-server";

/** The description of an authorization server at an origin. */
function describing(origin: string, more: object = {}): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    code_challenge_methods_supported: ["S256"],
    ...more,
  };
}

describe("where a person signs in for an MCP server", () => {
  it("is found by the metadata that the server names when it refuses", async (t) => {
    const { url, origin } = await serve(
      t,
      (at) => ({
        "/about": { resource: `${at}/mcp`, authorization_servers: [at], scopes_supported: ["a", "b"] },
        [AUTHORIZATION]: describing(at, {
          registration_endpoint: `${at}/register`,
          authorization_response_iss_parameter_supported: true,
          token_endpoint_auth_methods_supported: ["none"],
          scopes_supported: ["offline_access"],
        }),
      }),
      (at) => `Bearer resource_metadata="${at}/about", scope="only this"`,
    );
    assert.deepEqual(await findSignInPlace(url), {
      resource: url,
      scope: "only this",
      server: {
        issuer: origin,
        authorizationEndpoint: `${origin}/authorize`,
        tokenEndpoint: `${origin}/token`,
        registrationEndpoint: `${origin}/register`,
        namesItself: true,
        authMethods: ["none"],
        scopes: ["offline_access"],
      },
    });
  });

  it("is found at the well-known places, the one of the path before the one of the host", async (t) => {
    const { url, asked } = await serve(t, (at) => ({
      [RESOURCE]: { authorization_servers: [at], scopes_supported: ["a", "b"] },
      [AUTHORIZATION]: describing(at),
    }));
    const { scope, resource } = await findSignInPlace(url);
    assert.deepEqual([scope, resource], ["a b", url]);
    assert.deepEqual(asked.slice(1, 3), [`GET ${RESOURCE}/mcp`, `GET ${RESOURCE}`]);
  });

  it("is found by the description of OpenID, also below a path", async (t) => {
    const { url, origin } = await serve(t, (at) => ({
      [`${RESOURCE}/mcp`]: { authorization_servers: [`${at}/tenant`] },
      "/tenant/.well-known/openid-configuration": describing(at, { issuer: `${at}/tenant` }),
    }));
    const { server } = await findSignInPlace(url);
    assert.equal(server.issuer, `${origin}/tenant`);
  });

  const refused = async (t: TestContext, pages: Pages, expected: RegExp): Promise<void> => {
    const { url } = await serve(t, pages);
    await assert.rejects(findSignInPlace(url), (thrown: { code: string; message: string }) => {
      assert.equal(thrown.code, "TOOL_FAILED", thrown.message);
      assert.match(thrown.message, expected);
      return true;
    });
  };

  it("is not known when the server says nothing of it", (t) => refused(t, () => ({}), /does not say where to sign in/));

  it("is refused when the server names another place as its resource", async (t) => {
    for (const resource of ["https://bank.example/", "http://127.0.0.1:1/mcp", "not an address"])
      await refused(t, (at) => ({ [RESOURCE]: { resource, authorization_servers: [at] } }), /which is another place/);
    await refused(
      t,
      (at) => ({ [RESOURCE]: { resource: `${at}/mc`, authorization_servers: [at] } }),
      /which is another place/,
    );
  });

  it("is refused without an authorization server, or when that one does not describe itself", async (t) => {
    await refused(t, () => ({ [RESOURCE]: {} }), /names no authorization server/);
    await refused(t, (at) => ({ [RESOURCE]: { authorization_servers: [at] } }), /does not describe itself/);
  });

  it("is refused when the authorization server calls itself another one", (t) =>
    refused(
      t,
      (at) => ({
        [RESOURCE]: { authorization_servers: [at] },
        [AUTHORIZATION]: describing(at, { issuer: "https://other.example" }),
      }),
      /calls itself https:\/\/other\.example/,
    ));

  it("is refused without endpoints, without PKCE, and with endpoints that are not protected", async (t) => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ token_endpoint: undefined }, /names no endpoints/],
      [{ code_challenge_methods_supported: ["plain"] }, /does not protect codes/],
      [{ code_challenge_methods_supported: undefined }, /does not protect codes/],
      [{ token_endpoint: "http://example.test/token" }, /is not an address by https/],
      [{ authorization_endpoint: "javascript:alert(1)" }, /is not an address by https/],
    ];
    for (const [more, expected] of cases)
      await refused(
        t,
        (at) => ({ [RESOURCE]: { authorization_servers: [at] }, [AUTHORIZATION]: describing(at, more) }),
        expected,
      );
  });

  it("is refused with the server's name when the authorization server is no address", (t) =>
    refused(t, () => ({ [RESOURCE]: { authorization_servers: ["nowhere"] } }), /nowhere is not an address by https/));

  it("is not known of a server that is not reached, which is said as a fault of the tool", async (t) => {
    const { url } = await serve(t, () => ({ "/mcp": (response) => void response.destroy() }));
    await assert.rejects(findSignInPlace(url), { code: "TOOL_FAILED", message: /mcp does not answer: / });
  });
});

describe("a JSON document of an authorization server", () => {
  it("is read up to a bound, however much the server sends", async (t) => {
    let sent = 0;
    const { origin } = await serve(t, () => ({
      "/endless": (response) => {
        const more = (): void => {
          if (response.destroyed) return;
          sent += MOUNT_LIMITS.schemaBytes;
          response.write("x".repeat(MOUNT_LIMITS.schemaBytes), () => setImmediate(more));
        };
        more();
      },
    }));
    await assert.rejects(readJson(`${origin}/endless`, {}), { code: "TOOL_FAILED", message: /more than \d+ bytes/ });
    assert.ok(sent < 1000 * MOUNT_LIMITS.schemaBytes);
  });

  it("that is refused gives the status and the beginning of what was said", async (t) => {
    const { origin } = await serve(t, () => ({
      "/no": (response) => void response.writeHead(403).end("not you ".repeat(1000)),
    }));
    await assert.rejects(readJson(`${origin}/no`, {}), (thrown: Error) => {
      assert.match(thrown.message, /\/no answers 403: not you/);
      assert.ok(thrown.message.length < 400);
      return true;
    });
  });

  it("that is no JSON, or no object, is said to be so", async (t) => {
    const { origin } = await serve(t, () => ({
      "/list": [],
      "/text": (response) => void response.end("<html>"),
    }));
    for (const path of ["/list", "/text"])
      await assert.rejects(readJson(origin + path, {}), { code: "TOOL_FAILED", message: /gives no JSON object/ });
  });

  it("is not fetched from where a redirection leads", async (t) => {
    const { origin, asked } = await serve(t, (at) => ({
      "/from": (response) => void response.writeHead(302, { location: `${at}/to` }).end(),
      "/to": {},
    }));
    await assert.rejects(readJson(`${origin}/from`, {}), { code: "TOOL_FAILED" });
    assert.deepEqual(asked, ["GET /from"]);
  });
});
