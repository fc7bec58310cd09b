import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { CODEC_LIMITS, TCP_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";
import { answer, HELLO, startForeignTcpServer } from "../../../../tests/support/foreign-tcp-server.ts";
import { frame, frameOf } from "../../../../tests/support/tcp-hand.ts";
import { TcpClient, TcpError } from "../tcp.ts";
import type { TcpClientOptions } from "../tcp.ts";

function clientOf(t: TestContext, port: number, options: Partial<TcpClientOptions> = {}): TcpClient {
  const client = new TcpClient({ host: "127.0.0.1", port, backoffMs: 1, reconnect: false, ...options });
  t.after(() => client.close());
  return client;
}

/** A server that does with each connection what the test says, byte by byte. */
async function serve(t: TestContext, heed: (socket: Socket, n: number) => void): Promise<number> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true).on("error", () => undefined));
    heed(socket, (count += 1));
  }).listen(0, "127.0.0.1");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const isConnection = (thrown: unknown): boolean => thrown instanceof TcpError && thrown.code === "CONNECTION";
const hello = (data: Json): Json => ({ v: 1, t: "hello", data });

/** Writes bytes one piece after the other, each in a packet of its own. */
async function writeInPieces(socket: Socket, bytes: Uint8Array, at: readonly number[]): Promise<void> {
  let from = 0;
  for (const to of [...at, bytes.length]) {
    if (to > from) await new Promise<void>((resolve) => socket.write(bytes.subarray(from, to), () => resolve()));
    await new Promise(setImmediate);
    from = to;
  }
}

describe("a greeting", () => {
  const bytes = Buffer.from(frame(HELLO));

  test("is read wherever a slow line cuts it", async (t) => {
    const port = await serve(t, (socket, n) => void writeInPieces(socket, bytes, [n]));
    for (let at = 1; at < bytes.length; at += 1) {
      const client = clientOf(t, port);
      assert.equal((await client.connect()).heartbeat, 30_000, `cut at ${at}`);
      await client.close();
    }
  });

  test("that breaks off at any byte is CONNECTION, and never half a greeting", async (t) => {
    const port = await serve(t, (socket, n) => socket.end(bytes.subarray(0, n - 1)));
    for (let at = 0; at < bytes.length; at += 1)
      await assert.rejects(clientOf(t, port).connect(), isConnection, `cut at ${at}`);
  });

  test("that is none is told as what it is: rubbish, an empty frame, another version, no version", async (t) => {
    const cases: readonly (readonly [Uint8Array, RegExp])[] = [
      [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"), /What answers is no agent/],
      [Buffer.from([0, 0, 0, 0]), /What answers is no agent/],
      [frameOf("{"), /What answers is no agent/],
      [frameOf(Buffer.from([0x22, 0xff, 0x22])), /What answers is no agent/],
      [frame([]), /speaks version none/],
      [frame("hello"), /speaks version none/],
      [frame({ v: "1", t: "hello" }), /speaks version "1"/],
      [frame({ v: 2, t: "hello" }), /speaks version 2/],
    ];
    const port = await serve(t, (socket, n) => socket.write(cases[n - 1]![0]));
    for (const [, message] of cases) await assert.rejects(clientOf(t, port).connect(), { message });
  });

  test("without its fields, or with strange ones, has the usual ones", async (t) => {
    const strange: readonly Json[] = [
      null,
      [],
      {},
      { maxFrame: "1", heartbeat: null },
      { maxFrame: 0, heartbeat: 0 },
      { maxFrame: -5, heartbeat: -1 },
    ];
    const port = await serve(t, (socket, n) => socket.write(frame(hello(strange[n - 1]!))));
    for (const data of strange) {
      const { maxFrame, heartbeat } = await clientOf(t, port).connect();
      assert.deepEqual([maxFrame, heartbeat], [CODEC_LIMITS.frameBytes, TCP_LIMITS.heartbeatMs], JSON.stringify(data));
    }
  });

  test("with a heartbeat that no timer can keep makes no flood of them", async (t) => {
    const acts: string[] = [];
    for (const heartbeat of [2 ** 31, 1e15, Number.MAX_VALUE]) {
      const { port } = await startForeignTcpServer(
        t,
        (said) => {
          acts.push(said.act);
          return answer(said, {});
        },
        hello({ maxFrame: 1000, heartbeat }),
      );
      const client = clientOf(t, port);
      for (let times = 0; times < 5; times += 1) await client.request("PS");
    }
    assert.deepEqual(new Set(acts), new Set(["PS"]));
  });

  test("with a frame of any size allows the peer no more than the bound of an answer", async (t) => {
    const port = await serve(t, (socket) => {
      socket.write(frame(hello({ maxFrame: 0xffff_ffff, heartbeat: 30_000 })));
      // The header of a frame that would take all memory; its body never comes.
      socket.once("data", () => socket.write(Buffer.from([0xf0, 0, 0, 0])));
    });
    await assert.rejects(clientOf(t, port).request("PS"), { code: "CONNECTION" });
  });
});

describe("why a connection ended", () => {
  /** A client whose server says these messages for its request and hangs up; the reason that the client tells. */
  async function reason(t: TestContext, messages: (id: string) => readonly Json[]): Promise<string> {
    const { port } = await startForeignTcpServer(t, ({ id }, socket) => {
      for (const message of messages(id)) socket.write(frame(message));
      socket.end();
      return undefined;
    });
    const down = Promise.withResolvers<TcpError>();
    const client = clientOf(t, port, { onDown: down.resolve });
    await client.request("PS").catch(() => undefined);
    return (await down.promise).message;
  }

  test("is the server's last word, which belongs to no request", async (t) => {
    assert.equal(
      await reason(t, () => [{ v: 1, t: "err", id: "0", code: "TOKEN_EXPIRED", msg: "Too old." }]),
      "Too old.",
    );
    assert.equal(await reason(t, () => [{ v: 1, t: "err", code: "BAD_REQUEST", msg: "What?" }]), "What?");
  });

  test("is not the answer to a request that was given up, nor that to a heartbeat", async (t) => {
    for (const id of ["c77", "hb1"])
      assert.equal(
        await reason(t, () => [{ v: 1, t: "err", id, code: "FORBIDDEN", msg: "Not that one." }]),
        "The connection was cut.",
        id,
      );
  });
});

