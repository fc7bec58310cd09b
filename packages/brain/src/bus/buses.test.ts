import assert from "node:assert/strict";
import { after, test } from "node:test";
import { BUS_LIMITS } from "@vidro/core";
import { startRedis } from "../../../../tests/support/redis-server.ts";
import { startCluster, startSentinels } from "../../../../tests/support/redis-sets.ts";
import { busContract, collect, settle, whenUp } from "./bus.contract.ts";
import { openBus } from "./buses.ts";

const server = await startRedis();
after(() => server.close());

const several = (address: string) => (count: number) =>
  Promise.all(Array.from({ length: count }, () => openBus(address)));

busContract("memory", several("memory:contract"));
busContract("redis", several(server.url));

test("a bus whose address cannot be used is refused in words", async () => {
  for (const [address, why] of [
    ["http://localhost", /does not begin with redis/u],
    ["redis://a:1,b:2", /redis\+sentinel/u],
    ["redis+sentinel://a:1", /master/u],
    ["redis://a:1/x", /not a number/u],
    ["redis://a:1?x=1", /no setting "x"/u],
    ["rediss://a:1?sslrootcert=/nowhere", /cannot be read/u],
  ] as const)
    await assert.rejects(openBus(address), why);
});

test("F14: a server that is away at the start, is killed, or hangs is waited for; subscriptions come back", async () => {
  const own = await startRedis();
  await own.kill();
  const [one, two] = await several(own.url)(2);
  assert.ok(one && two);
  one.publish("topic", "dropped");
  assert.deepEqual([one.condition().isUp, one.condition().dropped], [false, 1]);
  const first = collect(two, "topic", 1);
  await own.start();
  await Promise.all([whenUp(one), whenUp(two)]);
  one.publish("topic", "one");
  assert.deepEqual(await first, ["one"]);
  const down = Promise.all([whenUp(one, false), whenUp(two, false)]);
  await own.kill();
  await down;
  assert.match(one.condition().why, /^redis:\/\/127\.0\.0\.1:\d+ cannot be reached: ./u);
  const second = collect(two, "topic", 1);
  await own.start();
  await Promise.all([whenUp(one), whenUp(two)]);
  one.publish("topic", "two");
  assert.deepEqual(await second, ["two"]);
  own.freeze();
  await Promise.all([whenUp(one, false), whenUp(two, false)]);
  own.thaw();
  await Promise.all([whenUp(one), whenUp(two)]);
  await Promise.all([one.close(), two.close()]);
  await own.close();
});

test("what is kept ends after its time, and an item of a stream is there once", async () => {
  const [bus, other] = await several(`${server.url}?prefix=mine:`)(2);
  assert.ok(bus && other);
  await Promise.all([whenUp(bus), whenUp(other)]);
  bus.keep("key:{a}", "text", 60_000);
  const places = [[1, 0], [2, 0], [2, 0], [1, 0], [2, 1]] as const; // prettier-ignore
  for (const place of places) bus.append("task:{a}:events", { place, text: place.join() });
  await settle(other, bus);
  assert.equal(await server.command("GET", "mine:key:{a}"), "text");
  const ttls = await Promise.all(["key:{a}", "task:{a}:events"].map((key) => server.command("PTTL", `mine:${key}`)));
  assert.ok(Number(ttls[0]) > 0 && Number(ttls[0]) <= 60_000, String(ttls));
  assert.ok(Number(ttls[1]) > 60_000 && Number(ttls[1]) <= BUS_LIMITS.streamMs, String(ttls));
  assert.deepEqual(await server.command("XRANGE", "mine:task:{a}:events", "-", "+"), [
    ["1-0", ["event", "1,0"]],
    ["2-0", ["event", "2,0"]],
    ["2-1", ["event", "2,1"]],
  ]);
  await Promise.all([bus.close(), other.close()]);
});

test("Sentinel: a master that is killed is replaced by its replica, and messages pass again", async (t) => {
  const set = await startSentinels();
  t.after(() => set.close());
  const [one, two] = await several(set.url)(2);
  t.after(() => Promise.all([one?.close(), two?.close()]));
  assert.ok(one && two);
  await Promise.all([whenUp(one), whenUp(two)]);
  const before = collect(two, "topic", 1);
  await settle(two, one);
  one.publish("topic", "before");
  assert.deepEqual(await before, ["before"]);
  const down = whenUp(one, false);
  await set.failOver();
  await down;
  await Promise.all([whenUp(one), whenUp(two)]);
  const later = collect(two, "topic", 1);
  await settle(two, one);
  one.publish("topic", "after");
  assert.deepEqual(await later, ["after"]);
});

test("Cluster: messages pass between its nodes, and keys with one hash tag lie together", async (t) => {
  const set = await startCluster();
  t.after(() => set.close());
  const [one, two] = await several(set.url)(2);
  t.after(() => Promise.all([one?.close(), two?.close()]));
  assert.ok(one && two);
  await Promise.all([whenUp(one), whenUp(two)]);
  const heard = collect(two, "topic", 1);
  await settle(two, one);
  one.publish("topic", "text");
  assert.deepEqual(await heard, ["text"]);
  one.append("task:{a}:events", { place: [1, 0], text: "one" });
  one.keep("handshake:{b}", "text", 60_000);
  await settle(two, one);
  assert.equal(one.condition().dropped, 0);
});
