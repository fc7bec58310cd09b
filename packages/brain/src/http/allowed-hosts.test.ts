import assert from "node:assert/strict";
import { Agent, createServer, request as send } from "node:http";
import type { IncomingMessage, OutgoingHttpHeaders, Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { asFault, TOKEN_LIMITS } from "@vidro/core";
import { admitRequest, authenticate } from "./allowed-hosts.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";

/* Requests over a real socket: what of their heads decides whether they are let in. */

const ALLOWED: AllowedHosts = {
  hosts: new Set(["localhost", "brain.example", "::1"]),
  origins: new Set(["https://pages.example"]),
  scheme: "http",
};
const agent = new Agent({ keepAlive: true });
let server: Server;
let port: number;

/** Answers with the origin that was admitted, the token that was verified, or the code of the fault. */
async function answerTo(request: IncomingMessage): Promise<string> {
  try {
    const origin = admitRequest(request, ALLOWED);
    if (request.url !== "/token") return `origin ${origin}`;
    const verify = async (token: string) => ({
      owner: token,
      tokenId: "t",
      scopes: new Set(["run"]),
      admin: false,
      expiresAt: null,
      revoked: new AbortController().signal,
    });
    const scope = request.headers["x-scope"] === "run" ? "run" : "admin";
    return `token ${(await authenticate(request, { scope }, { tokens: { verify } }))?.owner}`;
  } catch (thrown) {
    return asFault(thrown).code;
  }
}

before(async () => {
  server = createServer((request, response) => void answerTo(request).then((words) => response.end(words)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});

after(() => {
  agent.destroy();
  server.close();
});

async function ask(headers: OutgoingHttpHeaders, path = "/"): Promise<string> {
  const sent = send({ port, host: "127.0.0.1", path, agent, setHost: false, headers });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return await text(response);
}

const word = fc.stringMatching(/^[a-z][a-z\d-]{0,20}$/);

test("a host name is known in any case and with any port, and so is the address that was dialled", async () => {
  const cased = (name: string) =>
    fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }).map((isUpper) =>
      name
        .split("")
        .map((letter, index) => (isUpper[index] === true ? letter.toUpperCase() : letter))
        .join(""),
    );
  const host = fc.constantFrom("localhost", "brain.example", "[::1]", "127.0.0.1").chain(cased);
  const ported = fc.option(
    fc.nat(65_535).map((one) => `:${one}`),
    { nil: "" },
  );
  await fc.assert(
    fc.asyncProperty(host, ported, async (name, suffix) => {
      assert.equal(await ask({ host: name + suffix }), "origin undefined");
    }),
    { numRuns: 60 },
  );
});

test("any other host name is misdirected, also one that holds a known name", async () => {
  const other = fc.oneof(
    fc.tuple(word, fc.constantFrom(...ALLOWED.hosts)).map(([label, name]) => `${label}.${name}`),
    fc.tuple(word, fc.constantFrom(...ALLOWED.hosts)).map(([label, name]) => `${name}.${label}`),
    word.map((label) => `${label}.invalid`),
    fc.constantFrom("", "127.0.0.2", "localhost.", "localhost:80:80", "[::1", "::1", "user@localhost"),
  );
  await fc.assert(
    fc.asyncProperty(other, async (host) => assert.equal(await ask({ host }), "MISDIRECTED", host)),
    { numRuns: 60 },
  );
});

test("a request with two Host headers is refused, whichever of them is known", async () => {
  for (const hosts of [
    ["localhost", "evil.example"],
    ["evil.example", "localhost"],
  ]) {
    const socket = connect(port, "127.0.0.1");
    const lines = ["GET / HTTP/1.1", ...hosts.map((host) => `Host: ${host}`), "Connection: close", "", ""];
    socket.end(lines.join("\r\n"));
    const answer = await text(socket);
    assert.ok(answer.endsWith("BAD_REQUEST"), answer);
  }
});

test("a page of our own origin or of one that is named is let in, and only the named one is given back", async () => {
  const host = `localhost:${port}`;
  assert.equal(await ask({ host, origin: `http://${host}` }), "origin undefined");
  assert.equal(await ask({ host, origin: "https://pages.example" }), "origin https://pages.example");
  const foreign = fc.oneof(
    fc.constantFrom("null", `https://${host}`, "http://localhost", "http://localhost:1", "https://PAGES.example"),
    word.map((label) => `https://${label}.pages.example`),
    word.map((label) => `https://pages.example.${label}`),
  );
  await fc.assert(
    fc.asyncProperty(foreign, async (origin) => assert.equal(await ask({ host, origin }), "FORBIDDEN", origin)),
    { numRuns: 40 },
  );
});

const TOKEN = fc.stringMatching(/^[\x21-\x7e]{1,200}$/);
const HEAD = { host: "localhost", "x-scope": "run" };

test("a token is the same one after Bearer and as the password of Basic, whatever the user and the case of the scheme", async () => {
  const user = fc.stringMatching(/^[^:\p{Cc}]{0,20}$/u);
  await fc.assert(
    fc.asyncProperty(TOKEN, user, fc.constantFrom("Bearer", "bearer", "BEARER"), async (token, name, scheme) => {
      assert.equal(await ask({ ...HEAD, authorization: `${scheme} ${token}` }, "/token"), `token ${token}`);
      const basic = Buffer.from(`${name}:${token}`).toString("base64");
      assert.equal(await ask({ ...HEAD, authorization: `Basic ${basic}` }, "/token"), `token ${token}`);
    }),
    { numRuns: 60 },
  );
});

test("without a token, with a garbled or a longer one, AUTH_REQUIRED; without its scope, FORBIDDEN", async () => {
  const longest = "t".repeat(TOKEN_LIMITS.chars);
  assert.equal(await ask({ ...HEAD, authorization: `Bearer ${longest}` }, "/token"), `token ${longest}`);
  const password = Buffer.from(`u:${longest}t`).toString("base64");
  for (const authorization of [
    "",
    "Bearer",
    "Bearer a b",
    "Token abc",
    `Bearer ${longest}t`,
    `Basic ${password}`,
    "Basic YWJj",
    "Basic !!",
  ])
    assert.equal(await ask({ ...HEAD, authorization }, "/token"), "AUTH_REQUIRED", authorization);
  assert.equal(await ask(HEAD, "/token"), "AUTH_REQUIRED");
  assert.equal(await ask({ ...HEAD, "x-scope": "admin", authorization: "Bearer abc" }, "/token"), "FORBIDDEN");
});
