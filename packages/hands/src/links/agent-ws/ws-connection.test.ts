import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { openAuthority } from "../../../../brain/src/south/enrolment/authority.ts";
import { newKeyAndRequest } from "../../enrol/csr.ts";
import { scratch } from "../../scratch.fixture.ts";
import { WsConnection } from "./ws-connection.ts";

const WELCOME = { ok: true, policy: { timeouts: { exec: 1000 }, max_payload: 1000 }, session_epoch: 3 };
const HELLO = {
  method: "hello",
  agent_id: "h1",
  name: "web-1",
  version: "1",
  capabilities: [],
  timestamp: "now",
} as const;
const BOUNDS = { heartbeatMs: 60_000, telemetryMs: 60_000, dialMs: 20_000, answerMs: 20_000 };

interface Stage {
  readonly connection: WsConnection;
  /** Requests that the hand was given. */
  readonly received: JsonObject[];
  /** The brain's end, once it is open. */
  readonly brain: Promise<WebSocket>;
  /** What the hand sent, in order. */
  readonly heard: JsonObject[];
  readonly next: (isIt: (message: JsonObject) => boolean) => Promise<JsonObject>;
  readonly renewed: unknown[];
}

interface BrainOptions {
  /** Answers each message of the hand; undefined says nothing. */
  readonly answer?: (message: JsonObject) => JsonObject | string | undefined;
  /** Answers the upgrade itself. */
  readonly refuse?: (socket: Duplex, request: IncomingMessage) => void;
  readonly bounds?: Partial<typeof BOUNDS>;
  readonly sample?: () => JsonObject | undefined;
  /** How long ago the certificates were issued. */
  readonly ageMs?: number;
  /** A certificate of the hand that another authority has issued, and its key. */
  readonly own?: { readonly certificate: string; readonly key: string };
}

/** A hand's connection to a brain over mutual TLS 1.3, as the test has the brain behave. */
async function stage(t: TestContext, options: BrainOptions = {}): Promise<Stage> {
  const { answer, refuse, bounds, sample = () => undefined, ageMs = 0, own: foreign } = options;
  const authority = await openAuthority({ folder: scratch(t), now: () => Date.now() - ageMs });
  const { cert, key } = await authority.forListener(["127.0.0.1"]);
  const asked = { requestCert: true, rejectUnauthorized: foreign === undefined, minVersion: "TLSv1.3" } as const;
  const server = createServer({ cert, key, ca: authority.certificate, ...asked });
  const sockets = new WebSocketServer({ noServer: true });
  const opened = Promise.withResolvers<WebSocket>();
  const heard: JsonObject[] = [];
  const waiting = new Set<(message: JsonObject) => void>();
  server.on("upgrade", (request, socket, head) => {
    if (refuse !== undefined) return refuse(socket, request);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("message", (data: Buffer) => {
        const message = JSON.parse(data.toString("utf8")) as JsonObject;
        heard.push(message);
        for (const wake of waiting) wake(message);
        const reply = (answer ?? (({ id }) => ({ ...WELCOME, id: id ?? null })))(message);
        if (reply !== undefined) webSocket.send(typeof reply === "string" ? reply : JSON.stringify(reply));
      });
      opened.resolve(webSocket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = newKeyAndRequest("web-1");
  const { certificate } = await authority.forHand("h1", own.csr);
  const url = `wss://127.0.0.1:${(server.address() as AddressInfo).port}/southbound`;
  const identity = {
    agentId: "h1",
    name: "web-1",
    url,
    ca: authority.certificate,
    key: own.key,
    certificate,
    workspace: "/",
    ...foreign,
  };
  const [received, renewed]: [JsonObject[], unknown[]] = [[], []];
  const connection = new WsConnection({
    identity,
    bounds: { ...BOUNDS, ...bounds },
    hello: HELLO,
    receive: (message) => received.push(message),
    sample,
    renewed: async (credentials) => void renewed.push(credentials),
  });
  t.after(() => {
    connection.close();
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  });
  const next: Stage["next"] = (isIt) =>
    new Promise((resolve) => {
      const look = (message: JsonObject): void => {
        if (!isIt(message)) return;
        waiting.delete(look);
        resolve(message);
      };
      waiting.add(look);
    });
  return { connection, received, brain: opened.promise, heard, next, renewed };
}

test("hello is said once, with an id, and the terms of the session come back", async (t) => {
  const { connection, heard } = await stage(t);
  const { session_epoch, policy } = await connection.greet();
  assert.deepEqual([session_epoch, policy.max_payload], [3, 1000]);
  assert.deepEqual([heard.length, heard[0]?.["method"], typeof heard[0]?.["id"]], [1, "hello", "string"]);
});

test("a brain of the contract alone answers without an id; only its first reply is that to hello", async (t) => {
  const { connection } = await stage(t, { answer: () => ({ ok: true, policy: WELCOME.policy }) });
  assert.equal((await connection.greet()).session_epoch, undefined);
});

test("a refusal of hello is its fault; an answer that is no welcome is no brain", async (t) => {
  const refusing = await stage(t, {
    answer: ({ id = null }) => ({ ok: false, code: "HAND_REVOKED", error: "Gone.", id }),
  });
  await assert.rejects(refusing.connection.greet(), { code: "HAND_REVOKED", message: "Gone." });
  for (const wrong of [
    { ok: true },
    { ok: true, policy: {} },
    { ...WELCOME, session_epoch: "3" },
    { ok: true, policy: { timeouts: {}, max_payload: "1" } },
  ]) {
    const { connection } = await stage(t, { answer: ({ id = null }) => ({ ...wrong, id }) });
    await assert.rejects(connection.greet(), { code: "BRAIN_UNREACHABLE" }, JSON.stringify(wrong));
  }
});

test("a brain that says nothing is given up after its time, and the connection is not called open", async (t) => {
  const { connection } = await stage(t, { answer: () => undefined, bounds: { answerMs: 50 } });
  await assert.rejects(connection.greet(), { code: "BRAIN_UNREACHABLE", message: /in time/ });
});

test("a refused upgrade is the fault in its body, read whole, or the status of what is no brain", async (t) => {
  const send = (status: string, parts: readonly (string | Buffer)[]) => (socket: Duplex) => {
    const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`);
    for (const [index, part] of parts.entries()) setTimeout(() => socket.write(part), 10 * (index + 1));
  };
  const body = Buffer.from('{"ok":false,"code":"CERTIFICATE_INVALID","error":"für niemanden","retry_after_ms":9}');
  const cut = body.indexOf(Buffer.from("ü")) + 1;
  const refused = await stage(t, { refuse: send("403 Forbidden", [body.subarray(0, cut), body.subarray(cut)]) });
  await assert.rejects(refused.connection.greet(), {
    code: "CERTIFICATE_INVALID",
    message: "für niemanden",
    retryAfterMs: 9,
  });
  const other = await stage(t, { refuse: send("502 Bad Gateway", ["<html>"]) });
  await assert.rejects(other.connection.greet(), { code: "BRAIN_UNREACHABLE", message: /502/ });
});

test("requests of the brain reach the hand; rubbish is answered and ends nothing", async (t) => {
  const { connection, brain, received, next } = await stage(t);
  await connection.greet();
  const socket = await brain;
  const refused = next(({ code }) => code === "BAD_REQUEST");
  socket.send("{");
  await refused;
  const again = next(({ code }) => code === "BAD_REQUEST");
  socket.send(Buffer.from([1, 2, 3]), { binary: true });
  await again;
  const third = next(({ code }) => code === "BAD_REQUEST");
  socket.send("[1]");
  await third;
  socket.send(JSON.stringify({ method: "action.ack", action_id: "a" }));
  await connection.heartbeat();
  assert.deepEqual(received, [{ method: "action.ack", action_id: "a" }]);
});

test("a message over the bound is refused under its ids, and is not given to the hand", async (t) => {
  const { connection, brain, received, next } = await stage(t);
  await connection.greet();
  const refused = next(({ code }) => code === "PAYLOAD_TOO_LARGE");
  (await brain).send(
    JSON.stringify({ method: "tool.run", id: "q", action_id: "a", x: "x".repeat(REGISTER_LIMITS.messageBytes) }),
  );
  const { id, action_id } = await refused;
  assert.deepEqual([id, action_id, received], ["q", "a", []]);
});

test("a reply that was not asked for is dropped, after hello also one without an id", async (t) => {
  const { connection, brain, received } = await stage(t);
  await connection.greet();
  const socket = await brain;
  for (const reply of [{ ok: true }, { ok: false, id: "never" }]) socket.send(JSON.stringify(reply));
  await connection.heartbeat();
  assert.deepEqual(received, []);
});

test("the reason of a close is the brain's own code, or a lost connection", async (t) => {
  for (const [reason, code] of [
    ["HAND_REVOKED", "HAND_REVOKED"],
    ["toString", "CONNECTION_LOST"],
    ["", "CONNECTION_LOST"],
  ] as const) {
    const { connection, brain } = await stage(t);
    await connection.greet();
    (await brain).close(1008, reason);
    assert.equal((await connection.gone).code, code);
    assert.equal(connection.send({ ok: true }), false, "nothing is sent any more");
  }
});

test("a brain that is silent for too many heartbeats is given up; one that answers is not", async (t) => {
  const { connection, brain } = await stage(t, { bounds: { heartbeatMs: 50 } });
  await connection.greet();
  connection.startTimers();
  await connection.heartbeat();
  await new Promise((resolve) => setTimeout(resolve, 50 * (REGISTER_LIMITS.heartbeatsMissed + 5)));
  assert.equal(connection.send({ method: "x" }), true, "pongs keep it up");
  (await brain).pause();
  assert.equal((await connection.gone).code, "CONNECTION_LOST");
});

test("load is sent at the start and then at intervals, and nothing where there is none", async (t) => {
  let load = 0;
  const { connection, next, heard } = await stage(t, {
    bounds: { telemetryMs: 10 },
    sample: () => ({ load: (load += 1) }),
  });
  await connection.greet();
  const third = next(({ payload }) => (payload as JsonObject | undefined)?.["load"] === 3);
  connection.startTimers();
  await third;
  const ids = heard.filter(({ method }) => method === "telemetry.push").map(({ action_id }) => action_id);
  assert.equal(new Set(ids).size, ids.length);
});

test("a certificate is renewed after two thirds of its life, with a new key, and again when that fails", async (t) => {
  let tries = 0;
  const answer = ({ id = null, method, csr = "" }: JsonObject): JsonObject => {
    if (method !== "cert.renew") return { ...WELCOME, id };
    tries += 1;
    return tries === 1 ? { ok: false, code: "STORE_BUSY", id } : { ok: true, certificate: csr, id };
  };
  const aged = { answer, ageMs: 0.7 * SOUTHBOUND_LIMITS.certificateMs, bounds: { telemetryMs: 20 } };
  const { connection, renewed, next } = await stage(t, aged);
  await connection.greet();
  const second = next(({ method }) => method === "cert.renew" && tries === 1);
  connection.startTimers();
  await second;
  while (renewed.length === 0) await connection.heartbeat();
  const [{ key, certificate } = { key: "", certificate: "" }] = renewed as { key: string; certificate: string }[];
  assert.match(certificate, /CERTIFICATE REQUEST/);
  assert.match(key, /PRIVATE KEY/);
});

test("a fresh certificate is left alone", async (t) => {
  const { connection, heard } = await stage(t);
  await connection.greet();
  connection.startTimers();
  await connection.heartbeat();
  await connection.heartbeat();
  assert.deepEqual(
    heard.filter(({ method }) => method === "cert.renew"),
    [],
  );
});

test("a certificate of years is not renewed at once, although no timer can wait for its time", async (t) => {
  const folder = scratch(t);
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650", "-subj", "/CN=h1"];
  execFileSync("openssl", ["req", "-x509", ...fresh, "-keyout", keyFile, "-out", certFile], { stdio: "ignore" });
  const own = { certificate: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  const { connection, heard } = await stage(t, { own });
  await connection.greet();
  connection.startTimers();
  for (let beats = 0; beats < 20; beats += 1) await connection.heartbeat();
  assert.deepEqual(
    heard.map(({ method }) => method),
    ["hello"],
  );
});

test("a brain whose port is closed is out of reach, and the hand's process goes on", async (t) => {
  const { connection } = await stage(t, { refuse: (socket) => void socket.destroy() });
  await assert.rejects(connection.greet(), { code: "BRAIN_UNREACHABLE" });
  assert.equal((await connection.gone).code, "BRAIN_UNREACHABLE");
});
