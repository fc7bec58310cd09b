import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, HTTP_LIMITS } from "@vidro/core";
import { Served } from "./served.fixture.ts";
import type { Answer } from "./served.fixture.ts";

function isRefused(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json["code"], code);
  assert.equal(answer.json["ok"], false);
  assert.equal(answer.json["request_id"], answer.headers.get("x-request-id"));
}

test("a route gets its parameters, its query with defaults, and who is calling", async () => {
  await using served = await Served.up();
  const { status, json, headers } = await served.call("GET", "/things/a%2Fb?n=3");
  assert.equal(status, 200);
  assert.deepEqual(json, { name: "a/b", n: "3", owner: "ada" });
  assert.deepEqual((await served.call("GET", "/things/x")).json, { name: "x", n: "7", owner: "ada" });
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  const made = await served.call("POST", "/things", { body: { name: "x" } });
  assert.equal(made.status, 201);
  assert.deepEqual(made.json, { name: "x", size: 1, made: 1 });
});

test("every answer carries the headers that tie a browser's hands, and no permission for other origins", async () => {
  await using served = await Served.up();
  for (const path of ["/open", "/nowhere", "/stream"]) {
    const { headers } = await served.call("HEAD", path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("vary"), "Accept");
    assert.ok(![...headers.keys()].some((name) => name.startsWith("access-control-")));
    assert.ok(!headers.has("x-powered-by") && !headers.has("server"));
  }
});

test("a client's request id and trace are kept when they are well formed, else made", async () => {
  await using served = await Served.up();
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const given = { "x-request-id": "mine-1", traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  assert.equal((await served.call("GET", "/open", { headers: given })).headers.get("x-request-id"), "mine-1");
  const made = await served.call("GET", "/open", { headers: { "x-request-id": "no good{}" } });
  assert.match(made.headers.get("x-request-id") ?? "", /^req_[\da-f-]{36}$/);
  await served.server.close();
  const [first, second] = served.lines;
  assert.equal(first?.trace_id, trace);
  assert.match(String(second?.trace_id), /^[\da-f]{32}$/);
});

test("a path without a route is 404, a method that it does not take is 405 with Allow", async () => {
  await using served = await Served.up();
  isRefused(await served.call("GET", "/nowhere"), 404, "NOT_FOUND");
  isRefused(await served.call("GET", "/things/x/y"), 404, "NOT_FOUND");
  const other = await served.call("PUT", "/things/x");
  isRefused(other, 405, "METHOD_NOT_ALLOWED");
  assert.equal(other.headers.get("allow"), "GET, DELETE, HEAD, OPTIONS");
  isRefused(await served.call("GET", "/things/%zz"), 400, "BAD_REQUEST");
});

test("OPTIONS tells what may be asked, HEAD tells what GET would, and neither has an effect", async () => {
  await using served = await Served.up();
  const options = await served.call("OPTIONS", "/things", { headers: { authorization: "" } });
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("allow"), "POST, OPTIONS");
  const head = await served.call("HEAD", "/things/x");
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers.get("content-length"), String((await served.call("GET", "/things/x")).text.length));
  assert.equal((await served.call("HEAD", "/stream")).status, 200);
  assert.equal((await served.call("HEAD", "/things")).status, 405);
});

test("a foreign host name is 421, also when it resolves to this machine", async () => {
  await using served = await Served.up({ hosts: ["brain.example"] });
  const ask = (...hosts: readonly string[]): Promise<string> =>
    served.raw(
      ["GET /open HTTP/1.1", ...hosts.map((host) => `Host: ${host}`), "Connection: close", "", ""].join("\r\n"),
    );
  for (const host of [
    "evil.example",
    "evil.example:3120",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "",
    "[::2]",
  ])
    assert.match(await ask(host), /^HTTP\/1\.1 421 /, host);
  for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:80", "brain.example", "Brain.Example:443"])
    assert.match(await ask(host), /^HTTP\/1\.1 200 /, host);
  assert.match(await ask(), /^HTTP\/1\.1 400 /);
  assert.match(await ask("localhost", "evil.example"), /^HTTP\/1\.1 400 /);
  assert.match(await served.raw("GET /open HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 421 /);
});

test("pages of foreign origins may call nothing, our own and those that are named may", async () => {
  await using served = await Served.up({ origins: ["https://console.example"] });
  const own = served.server.url;
  for (const origin of [
    "https://evil.example",
    "null",
    own.replace("http:", "https:"),
    "http://127.0.0.1:1",
    `${own}.evil`,
  ]) {
    isRefused(await served.call("POST", "/things", { body: { name: "x" }, headers: { origin } }), 403, "FORBIDDEN");
    isRefused(await served.call("GET", "/stream", { headers: { origin } }), 403, "FORBIDDEN");
  }
  assert.equal(served.trial.made, 0);
  for (const origin of [own, "https://console.example"])
    assert.equal((await served.call("POST", "/things", { body: { name: "x" }, headers: { origin } })).status, 201);
});

test("a page of an origin that is named is told before and with each answer that it may read it", async () => {
  const origin = "https://console.example";
  await using served = await Served.up({ origins: ["https://Console.example/"] });
  const asked = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type,x-stainless-lang",
    "access-control-request-private-network": "true",
  };
  const before = await served.call("OPTIONS", "/things", { headers: { ...asked, authorization: "" } });
  assert.equal(before.status, 204);
  const told = (name: string): string | null => before.headers.get(`access-control-${name}`);
  assert.equal(told("allow-origin"), origin);
  assert.match(told("allow-methods") ?? "", /\bPOST\b/);
  assert.equal(told("allow-headers"), "authorization, content-type,x-stainless-lang");
  assert.deepEqual([told("allow-private-network"), told("allow-credentials")], ["true", null]);
  assert.match(before.headers.get("vary") ?? "", /\bOrigin\b/);
  for (const [method, path, status] of [
    ["GET", "/things/x", 200],
    ["GET", "/nowhere", 404],
    ["POST", "/things", 422],
  ] as const) {
    const { headers, status: got } = await served.call(method, path, {
      headers: { origin },
      ...(method === "POST" ? { body: {} } : {}),
    });
    assert.deepEqual([got, headers.get("access-control-allow-origin")], [status, origin], path);
    assert.match(headers.get("access-control-expose-headers") ?? "", /X-Run-Id/);
  }
  const refused = await served.call("OPTIONS", "/things", { headers: { ...asked, origin: "https://evil.example" } });
  assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [403, null]);
  const own = await served.call("GET", "/things/x");
  assert.equal(own.headers.get("access-control-allow-origin"), null);
  for (const slip of ["*", "console.example", "https://console.example/app", "null"])
    await assert.rejects(Served.up({ origins: [slip] }), /VIDRO_ORIGINS: .* is no origin/);
});

test("no token, a wrong one, one in the query, and one without the scope are refused", async () => {
  await using served = await Served.up();
  const as = (authorization: string, path = "/things/x", method = "GET"): Promise<Answer> =>
    served.call(method, path, { headers: { authorization } });
  isRefused(await as(""), 401, "AUTH_REQUIRED");
  isRefused(await as(`Basic ${served.token}`), 401, "AUTH_REQUIRED");
  isRefused(await as("", `/things/x?token=${served.token}&access_token=${served.token}`), 401, "AUTH_REQUIRED");
  const wrong = await as(`Bearer ${served.token.slice(0, -2)}zz`);
  isRefused(wrong, 401, "INVALID_TOKEN");
  assert.match(wrong.headers.get("www-authenticate") ?? "", /^Bearer realm="vidro", error="invalid_token"$/);
  const little = await as(`Bearer ${served.token}`, "/things/x", "DELETE");
  isRefused(little, 403, "FORBIDDEN");
  assert.equal(little.json["error"], "scope admin required");
  const { token } = await served.tokens.create({ owner: "root", role: "admin" });
  assert.equal((await as(`Bearer ${token}`, "/things/x", "DELETE")).status, 200);
  assert.deepEqual((await as("", "/open")).json, { owner: "" });
});

test("a body that is not JSON by its type is 415, whatever is in it", async () => {
  await using served = await Served.up();
  const post = (type: string, more: readonly string[] = []): Promise<string> => {
    const body = '{"name":"x"}';
    const head = served.head(
      "POST /things HTTP/1.1",
      `Content-Type: ${type}`,
      `Content-Length: ${body.length}`,
      "Connection: close",
      ...more,
    );
    return served.raw(head + body);
  };
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "text/plain; application/json",
    "application/json; charset=utf-16",
    "",
  ])
    assert.match(await post(type), /^HTTP\/1\.1 415 /, type);
  assert.match(await post("application/json", ["Content-Encoding: gzip"]), /^HTTP\/1\.1 415 /);
  assert.equal(served.trial.made, 0);
  for (const type of ["application/json", "Application/JSON; charset=UTF-8", "application/vnd.x+json"])
    assert.match(await post(type), /^HTTP\/1\.1 201 /, type);
});

test("000-67: a body outside the schema is 422 naming the path, and nothing happens", async () => {
  await using served = await Served.up();
  const unknown = await served.call("POST", "/things", { body: { name: "x", extra: 1 } });
  isRefused(unknown, 422, "BAD_ARGUMENTS");
  assert.equal(unknown.json["error"], "The body at /extra is not known here.");
  isRefused(await served.call("POST", "/things", { body: { name: 5 } }), 422, "BAD_ARGUMENTS");
  isRefused(await served.call("POST", "/things", { body: [1] }), 422, "BAD_ARGUMENTS");
  isRefused(await served.call("POST", "/things"), 422, "BAD_ARGUMENTS");
  isRefused(await served.call("GET", "/things/x?n=much"), 422, "BAD_ARGUMENTS");
  assert.equal(served.trial.made, 0);
});

test("a fault of our own gives a trace id to the client and its stack to the log", async () => {
  await using served = await Served.up();
  const answer = await served.call("GET", "/bug");
  isRefused(answer, 500, "INTERNAL_ERROR");
  assert.ok(!answer.text.includes("secret"));
  const line = served.lines.find(({ level }) => level === "error");
  assert.match(String(line?.["stack"]), /SyntaxError[^]*served\.fixture/);
  assert.ok(answer.text.includes(line?.trace_id ?? "?"));
});

test("nothing but loopback is listened on without TLS", async () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "brain.example"]) {
    await assert.rejects(
      Served.up({ host }),
      (thrown) => thrown instanceof Fault && thrown.code === "BAD_REQUEST" && /without TLS/.test(thrown.message),
    );
  }
});

test("a port that is taken is said to be so", async () => {
  await using served = await Served.up();
  const { port } = served.server;
  const message = `127.0.0.1:${port} is taken: another program listens there.`;
  await assert.rejects(Served.up({ port }), { code: "PORT_TAKEN", message });
});

test("a query has a bounded number of parameters", async () => {
  await using served = await Served.up();
  const many = Array.from({ length: HTTP_LIMITS.queryParameters + 1 }, (_, at) => `p${at}=1`).join("&");
  isRefused(await served.call("GET", `/things/x?${many}`), 422, "BAD_ARGUMENTS");
});
