import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { formatInvitation } from "@vidro/core/wire/enrolment";
import { openAuthority } from "../../../brain/src/south/enrolment/authority.ts";
import type { Authority } from "../../../brain/src/south/enrolment/authority.ts";
import { scratch } from "../scratch.fixture.ts";
import { newKeyAndRequest } from "./csr.ts";
import { enrol, readRefusal, renewExpired } from "./join.ts";
import type { EnrolOptions } from "./join.ts";

/** What a request to the brain's door was. */
interface Asked {
  readonly path: string;
  readonly body: JsonObject;
  /** The certificate of the client, if it showed one. */
  readonly client: string | undefined;
}

interface Stage {
  readonly authority: Authority;
  readonly asked: readonly Asked[];
  readonly options: EnrolOptions;
  readonly url: string;
}

type Answer = (asked: Asked, response: ServerResponse, authority: Authority) => unknown;

/** A server over TLS 1.3 with a brain's authority, which answers as the test says. */
async function stage(t: TestContext, answer: Answer): Promise<Stage> {
  const authority = await openAuthority({ folder: scratch(t), now: Date.now });
  const { cert, key } = await authority.forListener(["127.0.0.1"]);
  const asked: Asked[] = [];
  const secured = { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
  const server = createServer(secured, (request, response) => {
    void (async () => {
      const body = JSON.parse((await request.toArray()).join("")) as JsonObject;
      const { socket } = request as unknown as { socket: { getPeerX509Certificate(): X509Certificate | undefined } };
      const one = { path: request.url ?? "", body, client: socket.getPeerX509Certificate()?.toString() };
      asked.push(one);
      await answer(one, response, authority);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `wss://127.0.0.1:${(server.address() as AddressInfo).port}/southbound`;
  const token = invitation(authority.fingerprint);
  return { authority, asked, url, options: { url, token, name: "web-1", workspace: "/srv" } };
}

function invitation(fingerprint: string): string {
  return formatInvitation({ id: "0".repeat(32), secret: "s".repeat(43), fingerprint });
}

function reply(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const issue: Answer = async ({ body }, response, authority) => {
  const { certificate } = await authority.forHand("h1", textIn(body, "csr") ?? "");
  reply(response, { ok: true, agent_id: "h1", name: "named-by-brain", ca: authority.certificate, certificate });
};

test("a host joins with a key that it made and a certificate over that key", async (t) => {
  const { authority, asked, options, url } = await stage(t, issue);
  const identity = await enrol({ ...options, tags: ["web"] });
  assert.deepEqual(
    [identity.agentId, identity.name, identity.url, identity.workspace],
    ["h1", "named-by-brain", url, "/srv"],
  );
  assert.equal(
    new X509Certificate(identity.ca).fingerprint256,
    new X509Certificate(authority.certificate).fingerprint256,
  );
  assert.ok(new X509Certificate(identity.certificate).checkPrivateKey(createKey(identity.key)));
  const { body = {}, path } = asked[0] ?? {};
  assert.equal(path, "/southbound/v1/enrol");
  assert.deepEqual([body["name"], body["tags"]], ["web-1", ["web"]]);
  const sent = JSON.stringify(body);
  assert.ok(!sent.includes("PRIVATE"), "the private key never leaves the host");
  assert.ok(!sent.includes(authority.fingerprint), "the brain gets no more of the invitation than it checks");
});

function createKey(pem: string): Parameters<X509Certificate["checkPrivateKey"]>[0] {
  return process.getBuiltinModule("node:crypto").createPrivateKey(pem);
}

test("a server without the invited authority is told nothing", async (t) => {
  const { asked, options } = await stage(t, issue);
  const token = invitation("f".repeat(43));
  await assert.rejects(enrol({ ...options, token }), { code: "CERTIFICATE_INVALID", message: /told nothing/ });
  assert.deepEqual(asked, []);
});

test("a host that signs its messages stores its key before it has an identity", async (t) => {
  const { options } = await stage(t, ({ body }, response) => {
    assert.equal(body["csr"], undefined);
    reply(response, { ok: true, agent_id: "h1", name: "n", ca: "", key_id: "h1/k1", key: "cm9vdA==" });
  });
  const stored: unknown[] = [];
  const keepKey = async (key: unknown): Promise<void> => void stored.push(key);
  const identity = await enrol({ ...options, keepKey });
  assert.deepEqual(stored, [{ keyid: "h1/k1", root: "cm9vdA==" }]);
  assert.match(identity.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([identity.key, identity.certificate], ["", ""]);
  const failing = { ...options, keepKey: () => Promise.reject(new Error("disk full")) };
  await assert.rejects(enrol(failing), /disk full/, "without its key the host does not count as joined");
});

test("a refusal arrives with its code, sentence and wait", async (t) => {
  const refusal = { ok: false, code: "RATE_LIMITED", error: "Zu viele Versuche: später", retry_after_ms: 1500 };
  const { options } = await stage(t, (_, response) => reply(response, refusal, 429));
  await assert.rejects(enrol(options), {
    code: "RATE_LIMITED",
    message: "Zu viele Versuche: später",
    retryAfterMs: 1500,
  });
});

test("a sentence whose bytes come in two packets arrives whole", async (t) => {
  const bytes = Buffer.from(JSON.stringify({ ok: false, code: "CONFLICT", error: "Der Name müller ist vergeben." }));
  const cut = bytes.indexOf(Buffer.from("ü")) + 1;
  const { options } = await stage(t, async (_, response) => {
    response.writeHead(409).write(bytes.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.end(bytes.subarray(cut));
  });
  await assert.rejects(enrol(options), { code: "CONFLICT", message: "Der Name müller ist vergeben." });
});

test("what answers but is no brain is named as that", async (t) => {
  const answers: readonly (readonly [string, RegExp])[] = [
    ["<html>", /is no brain/],
    ["[]", /is no brain/],
    ["", /is no brain/],
    ['{"ok":false,"code":"MADE_UP"}', /is no brain/],
    ['{"ok":false,"code":"constructor"}', /is no brain/],
    ['{"ok":true}', /no brain of this version/],
    ['{"ok":true,"agent_id":"h1"}', /no brain of this version/],
    ['{"ok":true,"agent_id":5,"certificate":"x"}', /no brain of this version/],
  ];
  const left = answers.map(([text]) => text);
  const { options } = await stage(t, (_, response) => void response.end(left.shift()));
  for (const [text, message] of answers)
    await assert.rejects(enrol(options), { code: "BRAIN_UNREACHABLE", message }, text);
});

test("an answer without end is cut off", async (t) => {
  const { options } = await stage(t, (_, response) => {
    const write = (): void => {
      while (response.write("x".repeat(16 * 1024)));
      response.once("drain", write);
    };
    write();
  });
  await assert.rejects(enrol(options), { code: "BRAIN_UNREACHABLE", message: /too long/ });
});

test("a connection that ends in the answer is a brain out of reach, not a refusal", async (t) => {
  const { options } = await stage(t, (_, response) => {
    response.writeHead(200, { "content-length": 100 }).write('{"ok":true');
    setTimeout(() => response.destroy(), 10);
  });
  await assert.rejects(enrol(options), { code: "BRAIN_UNREACHABLE" });
});

test("a port where nothing listens, or something without TLS, is a brain out of reach", async () => {
  const plain = createTcpServer((socket) =>
    socket
      .on("error", () => undefined)
      .resume()
      .end("hello\n"),
  );
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  const { port } = plain.address() as AddressInfo;
  const options = {
    url: `wss://127.0.0.1:${port}/southbound`,
    token: invitation("f".repeat(43)),
    name: "n",
    workspace: "/",
  };
  await assert.rejects(enrol(options), { code: "BRAIN_UNREACHABLE", message: /127\.0\.0\.1/ });
  plain.close();
  await once(plain, "close");
  await assert.rejects(enrol(options), { code: "BRAIN_UNREACHABLE" });
});

test("an address of another kind is refused before anything is dialled", async () => {
  const token = invitation("f".repeat(43));
  for (const url of [
    "",
    "brain:3121",
    "https://b/southbound",
    "ws://b/southbound",
    "wss://b/",
    "wss://b/southbound/",
    "wss://u:p@b/southbound",
  ])
    await assert.rejects(enrol({ url, token, name: "n", workspace: "/" }), { code: "BAD_REQUEST" }, url);
  const url = "wss://127.0.0.1:1/southbound";
  for (const broken of ["", "abc", token.slice(1), `${token}.x`])
    await assert.rejects(enrol({ url, token: broken, name: "n", workspace: "/" }), { code: "BAD_REQUEST" }, broken);
});

test("an expired certificate is renewed with the old key and a new one", async (t) => {
  const { authority, asked, url } = await stage(t, async ({ body }, response, by) => {
    const { certificate } = await by.forHand("h1", textIn(body, "csr") ?? "");
    reply(response, { ok: true, certificate });
  });
  const { key, csr } = newKeyAndRequest("web-1");
  const { certificate } = await authority.forHand("h1", csr);
  const identity = { agentId: "h1", name: "web-1", url, ca: authority.certificate, key, certificate, workspace: "/" };
  const renewed = await renewExpired(identity);
  assert.notEqual(renewed.key, key);
  assert.ok(new X509Certificate(renewed.certificate).checkPrivateKey(createKey(renewed.key)));
  assert.equal(asked[0]?.path, "/southbound/v1/renew");
  assert.equal(asked[0]?.client, new X509Certificate(certificate).toString(), "the old certificate was shown");
});

test("a renewal trusts only the authority that the host has joined", async (t) => {
  const [{ url, asked }, other] = [await stage(t, issue), await stage(t, issue)];
  const { key, csr } = newKeyAndRequest("web-1");
  const { certificate } = await other.authority.forHand("h1", csr);
  const ca = other.authority.certificate;
  await assert.rejects(renewExpired({ agentId: "h1", name: "n", url, ca, key, certificate, workspace: "/" }), {
    code: "BRAIN_UNREACHABLE",
  });
  assert.deepEqual(asked, []);
});

test("a refusal is read only from a known code", () => {
  assert.equal(readRefusal(undefined), undefined);
  assert.equal(readRefusal({ code: "toString" }), undefined);
  assert.equal(readRefusal({ code: 5 }), undefined);
  assert.equal(readRefusal({ code: "HAND_REVOKED", retry_after_ms: "soon" })?.retryAfterMs, undefined);
});
