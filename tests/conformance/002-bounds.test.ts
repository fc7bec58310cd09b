import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { ALLOW_ALL, frame, startTcpHand } from "../support/tcp-hand.ts";

test("002-44 002-49 a connection may send 30 requests at once and 10 in a second after that", async (t) => {
  const hand = await startTcpHand(t);
  const caller = await hand.session("ps");
  const other = await hand.session("ps");
  for (let sent = 0; sent < 60; sent += 1) caller.send("PING");
  const answers = await caller.hearsMany(60);
  const limited = answers.filter(({ code }) => code === "RATE_LIMITED");
  // AUTH has taken one of the 30, and a slow machine gives some back meanwhile.
  assert.ok(limited.length >= 20 && limited.length <= 31, `${limited.length}`);
  for (const { retryAfterMs, act, t: kind } of limited) {
    assert.deepEqual([kind, act], ["err", "PING"]);
    assert.ok(retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs <= 100);
  }
  assert.equal((await other.ask("PING")).t, "res");
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.equal((await caller.ask("PING")).t, "res");
});

test("002-49 AUTH, unreadable frames and what is refused count as well", async (t) => {
  const hand = await startTcpHand(t, { bounds: { burst: 5, perSecond: 0.001 } });
  const guesser = await hand.caller();
  for (let sent = 0; sent < 10; sent += 1) guesser.send("AUTH", { token: "a.b" });
  const guessed = (await guesser.hearsMany(10)).map(({ code }) => code);
  assert.deepEqual(guessed, [...Array(5).fill("INVALID_TOKEN"), ...Array(5).fill("RATE_LIMITED")]);
  const babbler = await hand.caller();
  for (let sent = 0; sent < 10; sent += 1) babbler.socket.write(frame("not an envelope"));
  const babbled = (await babbler.hearsMany(10)).map(({ code }) => code);
  assert.deepEqual(babbled, [...Array(5).fill("BAD_REQUEST"), ...Array(5).fill("RATE_LIMITED")]);
  const eager = await hand.caller();
  for (let sent = 0; sent < 10; sent += 1) eager.send("PS");
  const asked = (await eager.hearsMany(10)).map(({ code }) => code);
  assert.deepEqual(asked, [...Array(5).fill("AUTH_REQUIRED"), ...Array(5).fill("RATE_LIMITED")]);
});

test("002-49 at most eight requests wait for their answers, and PING is still answered", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const caller = await hand.session("oscmd");
  for (let sent = 0; sent < 9; sent += 1) caller.send("OS_CMD", { cmd: "sleep", args: ["0.4"] });
  caller.send("PING");
  const [refused, pong, ...rest] = await caller.hearsMany(10);
  assert.deepEqual([refused?.code, refused?.retryAfterMs], ["RATE_LIMITED", 100]);
  assert.equal(pong?.act, "PING");
  assert.deepEqual(
    rest.map(({ t: kind }) => kind),
    Array(8).fill("res"),
  );
});

test("a stranger has to show a token in time, however busy it looks", async (t) => {
  const hand = await startTcpHand(t, { bounds: { authMs: 100, sweepMs: 10 } });
  const slow = await hand.caller();
  const bytes = frame({ v: 1, t: "req", id: "1", act: "PING", data: { pad: "x".repeat(1000) } });
  let at = 0;
  const drip = setInterval(() => slow.socket.write(bytes.subarray(at, (at += 1))), 20);
  t.after(() => clearInterval(drip));
  const [last] = await slow.hearsAll();
  assert.deepEqual([last?.id, last?.code], ["0", "AUTH_REQUIRED"]);
});

test("a frame that is begun has to be ended in time, also in a session", async (t) => {
  const hand = await startTcpHand(t, { bounds: { frameMs: 100, sweepMs: 10 } });
  const caller = await hand.session("ps");
  caller.socket.write(frame({ v: 1, t: "req", id: "1", act: "PING" }).subarray(0, 20));
  const [last] = await caller.hearsAll();
  assert.deepEqual([last?.id, last?.code], ["0", "BAD_REQUEST"]);
});

test("10,000 connections leave the hand bounded, and a session among them goes on", { timeout: 60_000 }, async (t) => {
  const hand = await startTcpHand(t, { bounds: { strangers: 64, connections: 256 } });
  const caller = await hand.session("ps");
  const open = new Set<ReturnType<typeof connect>>();
  let most = 0;
  for (let round = 0; round < 20; round += 1) {
    const fresh = Array.from({ length: 500 }, () => connect(hand.port, "127.0.0.1"));
    for (const socket of fresh) {
      open.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => open.delete(socket))
        .resume();
    }
    await Promise.all(fresh.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));
    if (round % 5 === 4) assert.equal((await caller.ask("PING")).t, "res");
    most = Math.max(most, open.size);
  }
  while (open.size > 64) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(most < 1100, `${most} were open at once`);
  assert.equal((await caller.ask("PS", { limit: 1 })).t, "res");
  for (const socket of open) socket.destroy();
});

test("a client that does not read is not read from, and closed after a while; others are served", async (t) => {
  const hand = await startTcpHand(t, {
    bounds: { burst: 1e9, perSecond: 1e9, unsentBytes: 64 * 1024, drainMs: 300, sweepMs: 20 },
  });
  const [deaf, other] = [await hand.session("*"), await hand.session("*")];
  const closed = new Promise((resolve) => deaf.socket.on("close", resolve));
  deaf.socket.pause();
  const request = frame({ v: 1, t: "req", id: "x", act: "PS", data: { limit: 1000 } });
  let took = true;
  for (let sent = 0; sent < 200_000 && took; sent += 1) took = deaf.socket.write(request);
  const flood = setInterval(() => {
    for (let sent = 0; sent < 1000 && !deaf.socket.writableNeedDrain; sent += 1) deaf.socket.write(request);
  }, 5);
  t.after(() => clearInterval(flood));
  assert.equal((await other.ask("PING")).t, "res");
  await closed;
  assert.equal((await other.ask("PING")).t, "res");
});

test("a hand that closes hangs up on everybody, and is then gone", async (t) => {
  const hand = await startTcpHand(t);
  const [stranger, caller] = [await hand.caller(), await hand.session("ps")];
  await Promise.all([hand.close(), stranger.hearsAll(), caller.hearsAll()]);
  const socket = connect(hand.port, "127.0.0.1");
  const [error] = await once(socket, "error");
  assert.equal((error as NodeJS.ErrnoException).code, "ECONNREFUSED");
});
