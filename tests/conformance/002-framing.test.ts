import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import fc from "fast-check";
import { CODEC_LIMITS } from "@vidro/core";
import { ALLOW_ALL, Caller, frame, frameOf, startTcpHand } from "../support/tcp-hand.ts";
import type { ListeningHand, Message } from "../support/tcp-hand.ts";

/** A caller that has not been greeted yet. */
async function fresh(t: TestContext, { port }: ListeningHand): Promise<Caller> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => void socket.destroy());
  await once(socket, "connect");
  return new Caller(socket);
}

test("002-01 002-13 every connection is greeted at once with maxFrame and heartbeat", async (t) => {
  const hello = await (await fresh(t, await startTcpHand(t))).hears();
  assert.deepEqual([hello.v, hello.t], [1, "hello"]);
  const { maxFrame, heartbeat, maxInFlight, serverVersion, extensions } = hello.data;
  assert.deepEqual(
    { maxFrame, heartbeat, maxInFlight, serverVersion },
    {
      maxFrame: 262_144,
      heartbeat: 30_000,
      maxInFlight: 8,
      serverVersion: "1.2.3",
    },
  );
  assert.deepEqual(extensions, ["JUDGE", "RUN_TOOL", "CANCEL", "ACK"]);
});

test("002-02 002-03 sockets wait for no company and are probed every heartbeat", async (t) => {
  const hand = await startTcpHand(t);
  const noDelay = t.mock.method(Socket.prototype, "setNoDelay");
  const keepAlive = t.mock.method(Socket.prototype, "setKeepAlive");
  await hand.caller();
  // Clients of databases in this process may make sockets, too.
  const calls = (of: typeof noDelay | typeof keepAlive): string[] =>
    of.mock.calls.map((each) => JSON.stringify(each.arguments));
  assert.ok(calls(noDelay).includes("[true]"), calls(noDelay).join());
  assert.ok(calls(keepAlive).includes("[true,30000]"), calls(keepAlive).join());
});

test("002-04 frames are read the same in whatever pieces they come", async (t) => {
  const hand = await startTcpHand(t, { bounds: { burst: 1e6, perSecond: 1e6 } });
  const token = await hand.token("*");
  const conversation = Buffer.concat([
    frame({ v: 1, t: "req", id: "a", act: "AUTH", data: { token } }),
    frame({ v: 1, t: "req", id: "b", act: "PING" }),
    frame({ v: 1, t: "req", id: "c", act: "ÑANDÚ 🦤" }),
    frame({ v: 1, t: "req", id: "d", act: "GET_OS_INFO", data: { seconds: 1 } }),
    frame({ v: 1, t: "req", id: "e", act: "QUIT" }),
  ]);
  const heard = async (cuts: readonly number[]): Promise<readonly string[]> => {
    const caller = await hand.caller();
    let from = 0;
    for (const to of [...cuts, conversation.length]) {
      if (!caller.socket.write(conversation.subarray(from, to))) await once(caller.socket, "drain");
      // Each piece goes out by itself.
      await new Promise((resolve) => setImmediate(resolve));
      from = to;
    }
    return (await caller.hearsAll()).map(({ t: kind, id, act, code }) => [kind, id, act, code].join(" "));
  };
  const whole = await heard([]);
  assert.deepEqual(whole, [
    "res a AUTH ",
    "res b PING ",
    "err c ÑANDÚ 🦤 UNKNOWN_ACTION",
    "res d GET_OS_INFO ",
    "res e QUIT ",
  ]);
  const everyByte = Array.from({ length: conversation.length - 1 }, (_, index) => index + 1);
  assert.deepEqual(await heard(everyByte), whole);
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: conversation.length - 1 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(cuts, async (some) => assert.deepEqual(await heard(some.sort((a, b) => a - b)), whole)),
    { numRuns: 15 },
  );
});

test("002-05 a frame of exactly 262144 bytes is read, and one byte more is not", async (t) => {
  const hand = await startTcpHand(t);
  const padded = (bytes: number): Buffer => {
    const bare = JSON.stringify({ v: 1, t: "req", id: "p", act: "PING", data: { pad: "" } });
    return frameOf(bare.replace('""', `"${"x".repeat(bytes - bare.length)}"`));
  };
  const caller = await hand.session("*");
  caller.socket.write(padded(262_144));
  assert.equal((await caller.hears()).t, "res");
  caller.socket.write(padded(262_145));
  const [refusal] = await caller.hearsAll();
  assert.equal(refusal?.code, "PAYLOAD_TOO_LARGE");
});

test("002-06 002-43 a frame that is too large is answered before its body comes, then the connection is closed", async (t) => {
  const hand = await startTcpHand(t);
  for (const length of [CODEC_LIMITS.frameBytesBeforeAuth + 1, 0x7fffffff, 0xffffffff]) {
    const caller = await hand.caller();
    const header = Buffer.alloc(4);
    header.writeUInt32BE(length);
    caller.socket.write(header);
    const [refusal, ...more] = await caller.hearsAll();
    assert.deepEqual([refusal?.t, refusal?.id, refusal?.code], ["err", "0", "PAYLOAD_TOO_LARGE"]);
    assert.deepEqual(more, []);
  }
});

test("002-06 a client that goes on sending what is too large still gets to read why", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  const header = Buffer.alloc(4);
  header.writeUInt32BE(64 * 1024 * 1024);
  caller.socket.write(header);
  for (let sent = 0; sent < 32 && !caller.socket.destroyed; sent += 1) caller.socket.write(Buffer.alloc(64 * 1024));
  const [refusal] = await caller.hearsAll();
  assert.equal(refusal?.code, "PAYLOAD_TOO_LARGE");
});

test("002-05 before AUTH a frame has at most 4096 bytes", async (t) => {
  const caller = await (await startTcpHand(t)).caller();
  caller.socket.write(frame({ v: 1, t: "req", id: "1", act: "AUTH", data: { token: "x".repeat(5000) } }));
  const [refusal] = await caller.hearsAll();
  assert.equal(refusal?.code, "PAYLOAD_TOO_LARGE");
});

test("002-12 002-37 an empty frame, and a stream that ends inside one, are BAD_REQUEST and the end", async (t) => {
  const hand = await startTcpHand(t);
  const empty = await hand.caller();
  empty.socket.write(Buffer.alloc(4));
  const [refused] = await empty.hearsAll();
  assert.deepEqual([refused?.id, refused?.code], ["0", "BAD_REQUEST"]);
  const half = await hand.caller();
  half.socket.end(frame({ v: 1, t: "req", id: "1", act: "PING" }).subarray(0, 9));
  const [broken] = await half.hearsAll();
  assert.deepEqual([broken?.id, broken?.code], ["0", "BAD_REQUEST"]);
});

test("002-12 002-37 what cannot be read is BAD_REQUEST with id 0, and the connection stays usable", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  const bad: readonly (Buffer | Uint8Array)[] = [
    frameOf("{"),
    frameOf("not json"),
    frameOf(Buffer.from([0xff, 0xfe, 0x00])),
    frameOf("[".repeat(50_000) + "]".repeat(50_000)),
    frameOf('{"v":1,"t":"req","id":"x","act":"PING","data":{"__proto__":{"a":1}}}'),
    frameOf("null"),
    frameOf("[1,2]"),
    frameOf('"PING"'),
  ];
  for (const bytes of bad) {
    caller.socket.write(bytes);
    const { t: kind, id, code } = await caller.hears();
    assert.deepEqual([kind, id, code], ["err", "0", "BAD_REQUEST"]);
  }
  assert.equal((await caller.ask("PING")).t, "res");
});

test("002-07 002-08 002-10 an envelope has v, t, id and act; what is wrong with it is said", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  const cases: readonly [object, string, string, RegExp][] = [
    [{ v: 1, t: "req", act: "PING" }, "0", "PING", /id/],
    [{ v: 1, t: "req", id: 7, act: "PING" }, "0", "PING", /id/],
    [{ v: 1, t: "req", id: "", act: "PING" }, "0", "PING", /id/],
    [{ v: 1, t: "req", id: "x".repeat(65), act: "PING" }, "0", "PING", /64/],
    [{ v: 1, t: "req", id: "a" }, "a", "", /act/],
    [{ v: 1, t: "req", id: "a", act: "X".repeat(65) }, "a", "", /64/],
    [{ v: 1, t: "req", id: "a", act: "PING", data: [1] }, "a", "PING", /data/],
    [{ v: 1, t: "req", id: "a", act: "PING", data: "x" }, "a", "PING", /data/],
    [{ v: 1, t: "pong", id: "a", act: "PING" }, "a", "PING", /t=/],
    [{ v: 1, id: "a", act: "PING" }, "a", "PING", /t=/],
  ];
  for (const [envelope, id, act, why] of cases) {
    caller.socket.write(frameOf(JSON.stringify(envelope)));
    const refusal = await caller.hears();
    assert.deepEqual([refusal.id, refusal.act, refusal.code], [id, act, "BAD_REQUEST"]);
    assert.match(refusal.msg ?? "", why);
  }
  caller.socket.write(frameOf(JSON.stringify({ v: 1, t: "req", id: "a", act: "PING", data: null })));
  assert.equal((await caller.hears()).t, "res", "data: null is the same as no data");
});

test("002-09 only the server says hello, res and err", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  for (const kind of ["hello", "res", "err"]) {
    caller.socket.write(frame({ v: 1, t: kind, id: "a", act: "PING", data: {} }));
    const { code } = await caller.hears();
    assert.equal(code, "BAD_REQUEST");
  }
});

test("002-10 an id that waits for its answer cannot be used again, and can be afterwards", async (t) => {
  const caller = await (await startTcpHand(t, { policy: ALLOW_ALL })).session("*");
  caller.send("OS_CMD", { cmd: "sleep", args: ["0.3"] }, "same");
  caller.send("PING", {}, "same");
  const [first, second] = await caller.hearsMany(2);
  assert.deepEqual([first?.id, first?.code], ["same", "BAD_REQUEST"]);
  assert.deepEqual([second?.act, second?.t], ["OS_CMD", "res"]);
  caller.send("PING", {}, "same");
  assert.equal((await caller.hears()).t, "res");
});

test("002-11 002-12 every answer repeats id and act, in whatever order the answers come", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  const slow = caller.send("OS_CMD", { cmd: "uname" });
  const fast = caller.send("PING");
  const wrong = caller.send("GET_OS_INFO", { seconds: -1 });
  const answers = new Map((await caller.hearsMany(3)).map((message: Message) => [message.id, message]));
  assert.deepEqual([answers.get(slow)?.act, answers.get(slow)?.t], ["OS_CMD", "res"]);
  assert.deepEqual([answers.get(fast)?.act, answers.get(fast)?.t], ["PING", "res"]);
  assert.deepEqual([answers.get(wrong)?.act, answers.get(wrong)?.t], ["GET_OS_INFO", "err"]);
});

test("002-51 another version is refused by its name, and the connection is closed", async (t) => {
  const hand = await startTcpHand(t);
  for (const version of [2, "1", null, undefined]) {
    const caller = await hand.caller();
    caller.socket.write(frame({ v: version as never, t: "req", id: "a", act: "PING" }));
    const [refusal, ...more] = await caller.hearsAll();
    assert.deepEqual([refusal?.id, refusal?.act, refusal?.code, more.length], ["a", "PING", "BAD_REQUEST", 0]);
    assert.match(refusal?.msg ?? "", new RegExp(`version ${JSON.stringify(version) ?? "none"}`));
  }
});
