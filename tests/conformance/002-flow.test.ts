import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";
import { TcpClient } from "@vidro/client/tcp";
import { makeCertificate } from "../support/certificate.ts";
import { Caller, frame, startTcpHand, scratch } from "../support/tcp-hand.ts";
import type { Message } from "../support/tcp-hand.ts";

const run = promisify(execFile);
const PYTHON_CLIENT = fileURLToPath(new URL("../support/tcp-client.py", import.meta.url));

test("002-52 the flow of the document's section 8 runs with a client that was written from the document alone", async (t) => {
  const hand = await startTcpHand(t);
  const token = await hand.token("getosinfo");
  const { stdout } = await run("python3", [PYTHON_CLIENT, "127.0.0.1", String(hand.port), token]);
  const { steps, closed } = JSON.parse(stdout) as { steps: Message[]; closed: boolean };
  const [hello, auth, info, quit] = steps;
  assert.deepEqual([hello?.t, hello?.data["maxFrame"], hello?.data["heartbeat"]], ["hello", 262_144, 30_000]);
  assert.deepEqual([auth?.t, auth?.id, auth?.act, auth?.data["scopes"]], ["res", "c1", "AUTH", ["getosinfo"]]);
  assert.deepEqual([info?.t, info?.id, info?.act], ["res", "c2", "GET_OS_INFO"]);
  const samples = info?.data["samples"];
  assert.ok(Array.isArray(samples) && samples.length > 0);
  assert.deepEqual([quit?.t, quit?.id, quit?.data, closed], ["res", "c3", { bye: true }, true]);
});

test("002-47 over TLS the protocol is the same, as openssl s_client sees it", async (t) => {
  const folder = scratch(t);
  const files = makeCertificate(folder, "127.0.0.1");
  const tls = { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") };
  const hand = await startTcpHand(t, { tls, folder });
  const token = await hand.token("getosinfo");
  const flags = ["-quiet", "-verify_return_error", "-CAfile", files.cert, "-connect", `127.0.0.1:${hand.port}`];
  const client = spawn("openssl", ["s_client", ...flags], { stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => void client.kill());
  client.stdin.write(
    Buffer.concat([
      frame({ v: 1, t: "req", id: "c1", act: "AUTH", data: { token } }),
      frame({ v: 1, t: "req", id: "c2", act: "GET_OS_INFO", data: { seconds: 60 } }),
      frame({ v: 1, t: "req", id: "c3", act: "QUIT" }),
    ]),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of client.stdout as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("latin1");
  for (const words of ['"t":"hello"', '"id":"c1"', '"samples"', '"bye":true']) assert.ok(text.includes(words), words);
});

test("002-47 a TLS server has nothing to say to a plain client, and old versions of TLS are refused", async (t) => {
  const folder = scratch(t);
  const files = makeCertificate(folder, "127.0.0.1");
  const tls = { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") };
  const hand = await startTcpHand(t, { tls, folder });
  const plain = new Caller(connect(hand.port, "127.0.0.1"));
  plain.socket.write(frame({ v: 1, t: "req", id: "1", act: "PING" }));
  assert.deepEqual(await plain.hearsAll(), []);
  const old = connectTls({
    port: hand.port,
    host: "127.0.0.1",
    ca: tls.cert,
    maxVersion: "TLSv1.1",
    minVersion: "TLSv1",
  });
  await assert.rejects(once(old, "secureConnect"));
  const client = new TcpClient({ host: "127.0.0.1", port: hand.port, tls: { ca: tls.cert }, reconnect: false });
  t.after(() => client.close());
  assert.equal((await client.connect()).maxFrame, 262_144);
});

test("002-47 who leaves during the handshake of TLS, or never ends it, takes no place from others", async (t) => {
  const folder = scratch(t);
  const files = makeCertificate(folder, "127.0.0.1");
  const tls = { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") };
  const hand = await startTcpHand(t, { tls, folder, bounds: { connections: 2, authMs: 100 } });
  const silent = new Caller(connect(hand.port, "127.0.0.1"));
  assert.deepEqual(await silent.hearsAll(), []);
  for (let count = 0; count < 3; count += 1) {
    const doubtful = connectTls({ port: hand.port, host: "127.0.0.1" });
    await assert.rejects(once(doubtful, "secureConnect"), /self-signed/);
    const hurried = connect(hand.port, "127.0.0.1").end();
    await once(hurried.resume(), "close");
  }
  const client = new TcpClient({ host: "127.0.0.1", port: hand.port, tls: { ca: tls.cert }, reconnect: false });
  t.after(() => client.close());
  assert.equal((await client.connect()).maxFrame, 262_144);
});

test("002-47 002-50 beyond this machine a hand listens with TLS, or in a laboratory that says it is one", async (t) => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
    await assert.rejects(startTcpHand(t, { host }), { code: "BAD_REQUEST", message: /--tls-cert.*--lab/ });
  }
  const lab = await startTcpHand(t, { host: "0.0.0.0", lab: true });
  const caller = await lab.session("ps");
  assert.equal((await caller.ask("PING")).t, "res");
});

test("a hand is dialled over TLS 1.3 and nothing older", async (t) => {
  const folder = scratch(t);
  const files = makeCertificate(folder, "127.0.0.1");
  const tls = { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") };
  const old = createTlsServer({ ...tls, maxVersion: "TLSv1.2" }).on("tlsClientError", () => undefined);
  old.listen(0, "127.0.0.1");
  await once(old, "listening");
  t.after(() => old.close());
  const { port } = old.address() as AddressInfo;
  const client = new TcpClient({ host: "127.0.0.1", port, tls: { ca: tls.cert }, reconnect: false });
  await assert.rejects(client.connect(), /protocol version/i);
  await client.close();
});
