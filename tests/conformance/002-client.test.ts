import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { TcpClient, TcpError } from "@vidro/client/tcp";
import type { TcpClientOptions } from "@vidro/client/tcp";
import { ALLOW_ALL, frame, startTcpHand } from "../support/tcp-hand.ts";
import { answer, HELLO, startForeignTcpServer } from "../support/foreign-tcp-server.ts";

function clientOf(t: TestContext, port: number, options: Partial<TcpClientOptions> = {}): TcpClient {
  const client = new TcpClient({ host: "127.0.0.1", port, backoffMs: 5, ...options });
  t.after(() => client.close());
  return client;
}

const isConnection = (thrown: unknown): boolean => thrown instanceof TcpError && thrown.code === "CONNECTION";

test("the client connects, authenticates and asks", async (t) => {
  const hand = await startTcpHand(t);
  const client = clientOf(t, hand.port);
  const hello = await client.connect();
  assert.equal(hello.heartbeat, 30_000);
  await assert.rejects(client.request("PS"), { code: "AUTH_REQUIRED" });
  const session = await client.auth(await hand.token("ps"));
  assert.deepEqual(session["scopes"], ["ps"]);
  const { processes } = await client.request("PS", { limit: 2 });
  assert.equal((processes as readonly unknown[]).length, 2);
  await assert.rejects(client.request("OS_CMD", { cmd: "id" }), { code: "FORBIDDEN", message: "scope oscmd required" });
});

test("002-17 the client sends PING every heartbeat, and 002-46 three without an answer are CONNECTION", async (t) => {
  const pings: string[] = [];
  const { port } = await startForeignTcpServer(t, (said) => {
    if (said.act === "PING") pings.push(said.id);
    return undefined;
  });
  const client = clientOf(t, port, { heartbeatMs: 20, reconnect: false });
  await client.connect();
  await assert.rejects(client.request("PS", {}), isConnection);
  await assert.rejects(client.request("PS", {}), isConnection);
  assert.equal(pings.length, 3);
  assert.equal(new Set(pings).size, 3);
});

test("002-17 the heartbeat is the one that the server wishes for, and answers keep the connection", async (t) => {
  let pings = 0;
  const beaten = Promise.withResolvers<void>();
  const hello = { ...HELLO, data: { ...HELLO.data, heartbeat: 10 } };
  const { port } = await startForeignTcpServer(
    t,
    (said) => {
      if (said.act === "PING" && ++pings === 6) beaten.resolve();
      return answer(said, { pong: true, ts: 1 });
    },
    hello,
  );
  const client = clientOf(t, port, { reconnect: false });
  await client.connect();
  await beaten.promise;
  assert.deepEqual(await client.request("PING"), { pong: true, ts: 1 });
});

test("002-46 a request that is not answered in time is CONNECTION, and a late answer is dropped", async (t) => {
  const late: (() => void)[] = [];
  const { port } = await startForeignTcpServer(t, (said, socket) => {
    if (said.act !== "SLOW") return answer(said, { act: said.act });
    late.push(() => void socket.write(frame(answer(said, { late: true }))));
    return undefined;
  });
  const client = clientOf(t, port);
  await assert.rejects(client.request("SLOW", {}, { deadlineMs: 30 }), isConnection);
  for (const send of late) send();
  assert.deepEqual(await client.request("FAST"), { act: "FAST" });
});

test("002-46 a closed port, and a server that is no agent, are CONNECTION", async (t) => {
  const { port, server } = await startForeignTcpServer(t, () => undefined);
  server.close();
  await once(server, "close");
  await assert.rejects(clientOf(t, port).connect(), isConnection);
  const web = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(0, "127.0.0.1");
  t.after(() => void web.close());
  await once(web, "listening");
  await assert.rejects(clientOf(t, (web.address() as AddressInfo).port).connect(), isConnection);
});

test("002-46 what was on its way at a cut is CONNECTION and is never sent again; a new session is made", async (t) => {
  const seen: string[] = [];
  const { port, sockets } = await startForeignTcpServer(t, (said, socket) => {
    seen.push(said.act);
    if (said.act === "EFFECT") socket.destroy();
    return said.act === "EFFECT" ? undefined : answer(said, { sessionId: "S-1", scopes: ["*"] });
  });
  const client = clientOf(t, port, { token: "a.b" });
  await client.connect();
  await assert.rejects(client.request("EFFECT"), isConnection);
  await client.request("AFTER");
  assert.deepEqual(seen, ["AUTH", "EFFECT", "AUTH", "AFTER"]);
  assert.equal(sockets.length, 2);
});

test("002-51 a server of another version is refused", async (t) => {
  const { port } = await startForeignTcpServer(t, () => undefined, { ...HELLO, v: 2 });
  await assert.rejects(clientOf(t, port).connect(), { code: "BAD_REQUEST", message: /version 2/ });
  const changing = await startForeignTcpServer(t, (said) => ({ ...(answer(said) as object), v: 3 }));
  await assert.rejects(clientOf(t, changing.port, { reconnect: false }).request("PING"), /version 3/);
});

test("a request that is too large for the server is refused before it is sent", async (t) => {
  const hand = await startTcpHand(t);
  const client = clientOf(t, hand.port, { token: await hand.token("*") });
  await assert.rejects(client.request("PING", { pad: "x".repeat(300_000) }), { code: "PAYLOAD_TOO_LARGE" });
  assert.equal((await client.request("PING"))["pong"], true);
});

test("a hand that restarts is found again, with the same token", async (t) => {
  const first = await startTcpHand(t, { policy: ALLOW_ALL });
  const token = await first.token("*");
  const downs: string[] = [];
  const client = clientOf(t, first.port, { token, onDown: (why) => downs.push(why.code) });
  await client.connect();
  const { port, folder, tokens } = first;
  await first.close();
  const again = startTcpHand(t, { policy: ALLOW_ALL, port, folder, verify: (given) => tokens.verify(given) });
  assert.equal((await client.request("PING"))["pong"], true);
  assert.deepEqual(downs, ["CONNECTION"]);
  await again;
});

test("a token that is refused after a cut ends the client's tries", async (t) => {
  const hand = await startTcpHand(t);
  const token = await hand.token("*");
  const client = clientOf(t, hand.port, { token });
  await client.connect();
  await hand.tokens.revoke(token.split(".")[0] ?? "");
  await assert.rejects(async () => {
    for (;;) await client.request("PING");
  }, TcpError);
  await assert.rejects(client.request("PING"), { code: "INVALID_TOKEN" });
});
