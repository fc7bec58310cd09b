import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, it } from "node:test";
import { allowRead, allowSend, parseOrigins } from "./cross-origin.ts";

/** Collects the headers that are set. */
function response() {
  const headers: { [name: string]: string } = {};
  const setHeader = (name: string, value: string): void => void (headers[name] = value);
  return { headers, response: { setHeader } as unknown as ServerResponse };
}

const preflight = (headers: object): IncomingMessage => ({ headers }) as IncomingMessage;

describe("pages of other origins", () => {
  it("may read the response and the headers that are ours, and nothing about cookies is allowed", () => {
    const { headers, response: to } = response();
    allowRead(to, "https://app.example");
    assert.equal(headers["access-control-allow-origin"], "https://app.example");
    assert.equal(headers["vary"], "Accept, Origin");
    for (const name of ["X-Run-Id", "X-Next-Cursor", "Retry-After"])
      assert.ok(headers["access-control-expose-headers"]?.includes(name), name);
    assert.equal("access-control-allow-credentials" in headers, false);
  });

  it("are told which methods and headers they may send", () => {
    const { headers, response: to } = response();
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization, x-a" };
    allowSend(preflight(asked), to, ["GET", "POST"]);
    assert.equal(headers["access-control-allow-methods"], "GET, POST");
    assert.equal(headers["access-control-allow-headers"], "authorization, x-a");
    assert.match(headers["access-control-max-age"] ?? "", /^\d+$/);
    assert.equal("access-control-allow-private-network" in headers, false);
  });

  it("are told nothing when they do not ask", () => {
    const { headers, response: to } = response();
    allowSend(preflight({}), to, ["GET"]);
    assert.deepEqual(headers, {});
  });

  it("get no header back that is no list of names", () => {
    for (const names of ["", "a b", "a,", "a\tb", "é", "a;b", 'x"y']) {
      const { headers, response: to } = response();
      const asked = { "access-control-request-method": "POST", "access-control-request-headers": names };
      allowSend(preflight(asked), to, ["GET"]);
      assert.equal(headers["access-control-allow-headers"], undefined, names);
    }
  });

  it("of a public network may ask for this private one by name", () => {
    const { headers, response: to } = response();
    const asked = { "access-control-request-method": "GET", "access-control-request-private-network": "true" };
    allowSend(preflight(asked), to, ["GET"]);
    assert.equal(headers["access-control-allow-private-network"], "true");
  });
});

describe("the origins of a setting", () => {
  it("are taken as browsers write them", () => {
    assert.deepEqual(parseOrigins(["https://app.example", "http://localhost:5173/", "HTTPS://App.Example:443"]), [
      "https://app.example",
      "http://localhost:5173",
      "https://app.example",
    ]);
    assert.deepEqual(parseOrigins([]), []);
  });

  it("are refused by name when they are none, so that a typing error is noticed", () => {
    for (const name of ["*", "null", "app.example", "https://app.example/path", "https://a@b.example", "file:///x", ""])
      assert.throws(
        () => parseOrigins([name]),
        { code: "BAD_REQUEST", message: /VIDRO_ORIGINS: .* is no origin/ },
        name,
      );
  });
});
