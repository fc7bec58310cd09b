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

describe("an answer", () => {
  test("is read wherever a slow line cuts it", async (t) => {
    const bytes = (id: string): Buffer => Buffer.from(frame(answer({ id, act: "PS" }, { word: "grün 😀" })));
    const { length } = bytes("c1");
    let cut = 0;
    const { port } = await startForeignTcpServer(t, ({ id }, socket) => {
      void writeInPieces(socket.setNoDelay(true), bytes(id), [(cut += 1)]);
      return undefined;
    });
    const client = clientOf(t, port);
    for (let at = 1; at < length; at += 1)
      assert.deepEqual(await client.request("PS"), { word: "grün 😀" }, `cut at ${at}`);
  });

  test("that breaks off at any byte is CONNECTION for its request, and for no other client", async (t) => {
    const whole = Buffer.from(frame(answer({ id: "c1", act: "PS" }, { pid: 1 })));
    const port = await serve(t, (socket, n) => {
      socket.write(frame(HELLO));
      socket.once("data", () => socket.end(whole.subarray(0, n)));
    });
    for (let at = 1; at < whole.length; at += 1)
      await assert.rejects(clientOf(t, port).request("PS"), isConnection, `cut at ${at}`);
  });

  test("goes to its own request, in whatever order answers come, and once", async (t) => {
    const waiting: Json[] = [];
    const { port } = await startForeignTcpServer(t, (said, socket) => {
      waiting.push(answer(said, { act: said.act }));
      if (waiting.length < 3) return undefined;
      for (const one of [...waiting].reverse()) for (let twice = 0; twice < 2; twice += 1) socket.write(frame(one));
      return undefined;
    });
    const client = clientOf(t, port);
    const acts = ["A", "B", "C"];
    const all = await Promise.all(acts.map((act) => client.request(act)));
    assert.deepEqual(
      all.map(({ act }) => act),
      acts,
    );
  });

  test("without an object for its data is an empty one, and messages of no kind are left alone", async (t) => {
    const { port } = await startForeignTcpServer(t, (said, socket) => {
      for (const noise of [
        null,
        5,
        "x",
        [],
        { v: 1 },
        { v: 1, t: "hello" },
        { v: 1, t: "res", id: 7 },
        { v: 1, t: "out", id: said.id },
      ])
        socket.write(frame(noise));
      return { ...(answer(said) as object), data: [1, 2] };
    });
    assert.deepEqual(await clientOf(t, port).request("PS"), {});
  });

  test("that is an error has its code, its words and the time to wait; strange ones are left out", async (t) => {
    const errors: readonly Json[] = [
      { code: "RATE_LIMITED", msg: "Slower.", retryAfterMs: 40 },
      { code: "FORBIDDEN", msg: 5, retryAfterMs: "soon" },
    ];
    const { port } = await startForeignTcpServer(t, ({ id }) => ({
      v: 1,
      t: "err",
      id,
      ...(errors[Number(id.slice(1)) - 1] as object),
    }));
    const client = clientOf(t, port);
    await assert.rejects(client.request("A"), { code: "RATE_LIMITED", message: "Slower.", retryAfterMs: 40 });
    await assert.rejects(client.request("B"), { code: "FORBIDDEN", message: "", retryAfterMs: undefined });
  });

  test("of live output is heard by its own request alone, before its end", async (t) => {
    const { port } = await startForeignTcpServer(t, (said, socket) => {
      for (const [id, text] of [
        [said.id, "one"],
        ["c99", "foreign"],
        [said.id, "two"],
      ])
        socket.write(frame({ v: 1, t: "out", id: id!, act: said.act, data: { text: text! } }));
      return answer(said, { done: true });
    });
    const heard: Json[] = [];
    const end = await clientOf(t, port).request("RUN", {}, { hear: ({ text }) => heard.push(text!) });
    assert.deepEqual([heard, end], [["one", "two"], { done: true }]);
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

describe("bounds of a client", () => {
  test("more requests than may wait are refused by name, and those that wait are answered", async (t) => {
    const held: (() => void)[] = [];
    const { port } = await startForeignTcpServer(t, (said, socket) => {
      held.push(() => socket.write(frame(answer(said))));
      return undefined;
    });
    const client = clientOf(t, port);
    await client.connect();
    const waiting = Array.from({ length: TCP_LIMITS.pending }, () => client.request("PS"));
    await assert.rejects(client.request("PS"), { code: "RATE_LIMITED" });
    while (held.length < TCP_LIMITS.pending) await new Promise(setImmediate);
    for (const send of held) send();
    assert.equal((await Promise.all(waiting)).length, TCP_LIMITS.pending);
  });

  test("a request that is larger than the server's frame is refused, and the next one is sent", async (t) => {
    const { port } = await startForeignTcpServer(
      t,
      (said) => answer(said),
      hello({ maxFrame: 200, heartbeat: 30_000 }),
    );
    const client = clientOf(t, port);
    await assert.rejects(client.request("PS", { pad: "x".repeat(200) }), { code: "PAYLOAD_TOO_LARGE" });
    assert.deepEqual(await client.request("PS"), {});
  });

  test("a deadline beyond any timer is kept while the client connects", async (t) => {
    const port = await serve(t, (socket) => {
      setImmediate(() => setImmediate(() => socket.write(frame(HELLO))));
      socket.on("data", () => socket.write(frame(answer({ id: "c1", act: "PS" }, { ok: true }))));
    });
    const client = clientOf(t, port);
    assert.deepEqual(await client.request("PS", {}, { deadlineMs: 2 ** 40 }), { ok: true });
    const other = clientOf(t, port);
    assert.deepEqual(await other.request("PS", {}, { deadlineMs: Infinity }), { ok: true });
  });

  test("a server that greets and then says nothing is given up at the deadline of the request", async (t) => {
    const port = await serve(t, (socket) => socket.write(frame(HELLO)));
    await assert.rejects(clientOf(t, port).request("PS", {}, { deadlineMs: 20 }), {
      code: "CONNECTION",
      message: /^PS was not answered in \d+ ms\.$/,
    });
  });
});

describe("a client", () => {
  test("that was closed dials no more and sends its token to no server", async (t) => {
    let connections = 0;
    const port = await serve(t, (socket) => {
      connections += 1;
      socket.write(frame(HELLO));
    });
    const client = clientOf(t, port);
    await client.connect();
    await client.close();
    await client.close();
    await assert.rejects(client.connect(), { code: "CONNECTION", message: "This client was closed." });
    await assert.rejects(client.request("PS"), { code: "CONNECTION" });
    await assert.rejects(client.auth("id.secret"), { code: "CONNECTION" });
    assert.equal(connections, 1);
  });

  test("that does not reconnect refuses requests after a cut, and works again when it is told to connect", async (t) => {
    const { port, sockets } = await startForeignTcpServer(t, (said) => answer(said, { act: said.act }));
    const down = Promise.withResolvers<void>();
    const client = clientOf(t, port, { onDown: () => down.resolve() });
    await client.request("PS");
    for (const socket of sockets) socket.destroy();
    await down.promise;
    await assert.rejects(client.request("PS"), isConnection);
    await client.connect();
    assert.deepEqual(await client.request("PS"), { act: "PS" });
  });

  test("that looks for a server which is gone stops when it is closed, and what waited is CONNECTION", async (t) => {
    const { port, server, sockets } = await startForeignTcpServer(t, (said) => answer(said, {}));
    const client = clientOf(t, port, { reconnect: true });
    await client.request("PS");
    server.close();
    for (const socket of sockets) socket.destroy();
    const waiting = client.request("PS").catch((thrown: unknown) => thrown);
    await client.close();
    assert.ok(isConnection(await waiting));
  });

  test("authenticates before the first request of each connection, in that order", async (t) => {
    const acts: string[] = [];
    const { port, sockets } = await startForeignTcpServer(t, (said) => {
      acts.push(said.act);
      return answer(said, { sessionId: "S" });
    });
    const ups: unknown[] = [];
    const client = clientOf(t, port, {
      reconnect: true,
      token: "a.b",
      onUp: (session) => ups.push(session["sessionId"]),
    });
    await Promise.all([client.request("A"), client.request("B")]);
    sockets[0]?.destroy();
    while (sockets.length < 2) await client.request("PING").catch(() => undefined);
    await client.request("C");
    assert.deepEqual(
      acts.filter((act) => act !== "PING"),
      ["AUTH", "A", "B", "AUTH", "C"],
    );
    assert.deepEqual(ups, ["S", "S"]);
    assert.deepEqual(client.session, { sessionId: "S" });
  });

  test("whose token is refused says so by its code, and has no connection", async (t) => {
    const { port } = await startForeignTcpServer(t, ({ id }) => ({
      v: 1,
      t: "err",
      id,
      act: "AUTH",
      code: "INVALID_TOKEN",
      msg: "No.",
    }));
    const client = clientOf(t, port, { token: "a.b" });
    for (let times = 0; times < 2; times += 1) await assert.rejects(client.connect(), { code: "INVALID_TOKEN" });
    assert.equal(client.session, undefined);
  });

  test("whose signal fires while it dials, or later, is CONNECTION", async (t) => {
    const port = await serve(t, (socket) => socket.write(frame(HELLO)));
    await assert.rejects(clientOf(t, port, { signal: AbortSignal.abort() }).connect(), isConnection);
    const leaving = new AbortController();
    const client = clientOf(t, port, { signal: leaving.signal });
    await client.connect();
    const waiting = client.request("PS");
    leaving.abort();
    await assert.rejects(waiting, isConnection);
  });
});
