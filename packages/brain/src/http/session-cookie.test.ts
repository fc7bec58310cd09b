import assert from "node:assert/strict";
import { test } from "node:test";
import { SESSION_LIMITS } from "@vidro/core";
import { parseOrigins } from "./cross-origin.ts";
import { sessionCookie, sessionHeader, sessionIn } from "./session-cookie.ts";

const HOST = "127.0.0.1:3120";
const COOKIE = "vidro-session-3120=secret";
const request = (method: string, headers: { readonly [name: string]: string }) =>
  ({ method, headers: { host: HOST, cookie: COOKIE, ...headers } }) as never;

test("the cookie of another brain on this machine is not ours", () => {
  assert.equal(sessionCookie({ host: HOST, cookie: COOKIE }), "secret");
  assert.equal(sessionCookie({ host: "127.0.0.1:3121", cookie: COOKIE }), undefined);
  assert.equal(sessionCookie({ host: HOST, cookie: `a=b; ${COOKIE}; c=d` }), "secret");
  assert.equal(sessionCookie({ host: "brain.example", cookie: "__Host-vidro-session=s1" }), "s1");
  assert.equal(sessionCookie({ host: "brain.example", cookie: "vidro-session-80=s2" }), "s2");
});

test("a cookie that is no secret of ours is none", () => {
  for (const value of ["", "a b", "a\tb", "x".repeat(200), "<script>", "a%20b", "é"])
    assert.equal(sessionCookie({ host: HOST, cookie: `vidro-session-3120=${value}` }), undefined, value);
  assert.equal(sessionCookie({}), undefined);
  const flood = `${"a=b; ".repeat(SESSION_LIMITS.cookieChars)}${COOKIE}`;
  assert.equal(sessionCookie({ host: HOST, cookie: flood }), undefined, "what is behind the bound is not read");
});

test("a session counts for the pages of this brain alone", () => {
  const own = `http://${HOST}`;
  const allowed: readonly (readonly [string, { readonly [name: string]: string }])[] = [
    ["GET", {}],
    ["GET", { "sec-fetch-site": "same-origin" }],
    ["GET", { "sec-fetch-site": "none" }],
    ["POST", { origin: own, "sec-fetch-site": "same-origin" }],
    ["GET", { origin: own }],
  ];
  for (const [method, headers] of allowed) assert.equal(sessionIn(request(method, headers)), "secret");
  const refused: readonly (readonly [string, { readonly [name: string]: string }])[] = [
    ["POST", {}],
    ["POST", { origin: "http://127.0.0.1:8080" }],
    ["POST", { origin: "null" }],
    ["GET", { "sec-fetch-site": "same-site" }],
    ["GET", { "sec-fetch-site": "cross-site" }],
    ["GET", { origin: "https://evil.example" }],
    ["POST", { origin: own, "sec-fetch-site": "cross-site" }],
    ["DELETE", { origin: `http://${HOST}.evil.example` }],
  ];
  for (const [method, headers] of refused)
    assert.throws(() => sessionIn(request(method, headers)), { code: "FORBIDDEN" }, JSON.stringify([method, headers]));
});

test("a request with a token of its own uses no session", () => {
  assert.equal(sessionIn(request("POST", { authorization: "Bearer x", origin: "https://evil.example" })), undefined);
});

test("the cookie is for the brain's own pages, and for TLS alone where the page came over it", () => {
  const plain = sessionHeader({ host: HOST, origin: `http://${HOST}` }, "secret", 90_500);
  assert.equal(plain, "vidro-session-3120=secret; Path=/; Max-Age=90; HttpOnly; SameSite=Strict");
  const secure = sessionHeader({ host: "brain.example", origin: "https://brain.example" }, "secret", 0);
  assert.equal(secure, "__Host-vidro-session=secret; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure");
});

test("an origin in the settings is one as browsers write it", () => {
  assert.deepEqual(parseOrigins(["https://app.example", "http://localhost:5173/"]), [
    "https://app.example",
    "http://localhost:5173",
  ]);
  for (const wrong of [
    "*",
    "app.example",
    "https://app.example/path",
    "null",
    "",
    "file:///a",
    "https://u:p@app.example",
  ])
    assert.throws(() => parseOrigins([wrong]), { code: "BAD_REQUEST" }, wrong);
});
