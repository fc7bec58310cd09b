import assert from "node:assert/strict";
import { test } from "node:test";
import { REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Order } from "@vidro/core";
import { memoryStore } from "../../stores/memory.ts";
import { OrderMemory } from "../executor-ws/order-memory.ts";
import { PendingStops } from "../register/pending-stops.ts";
import { Identities } from "./identities.ts";

const HOST = { id: "h1", owner: "ana", name: "web-1", tags: ["web"], serials: ["s1"] };

async function enrolled(): Promise<Identities> {
  const identities = new Identities(memoryStore().records);
  await identities.add(HOST);
  return identities;
}

test("an enrolled host is on record once", async () => {
  const identities = await enrolled();
  assert.deepEqual(await identities.find("h1"), HOST);
  assert.equal(await identities.find("h2"), undefined);
  await assert.rejects(identities.add({ ...HOST, owner: "eve" }), { code: "CONFLICT" });
});

test("a renewed certificate is accepted beside the one in use until it is used", async () => {
  const identities = await enrolled();
  assert.equal(await identities.renew("h1", { used: "s1", fresh: "s2" }), 2);
  const renewed = await identities.find("h1");
  assert.deepEqual([renewed?.serials, renewed?.spent], [["s1", "s2"], []]);
  assert.ok(renewed !== undefined);
  await identities.markUsed(renewed, "s1");
  assert.deepEqual((await identities.find("h1"))?.serials, ["s1", "s2"], "the old one says nothing about the new one");
  await identities.markUsed(renewed, "s2");
  const used = await identities.find("h1");
  assert.deepEqual([used?.serials, used?.spent], [["s2"], ["s1"]]);
});

test("a certificate whose answer was lost is spent by the next renewal with the old one", async () => {
  const identities = await enrolled();
  await identities.renew("h1", { used: "s1", fresh: "lost" });
  assert.equal(await identities.renew("h1", { used: "s1", fresh: "s2" }), 3);
  const { serials, spent } = (await identities.find("h1")) ?? {};
  assert.deepEqual([serials, spent], [["s1", "s2"], ["lost"]]);
});

test("two connections with the new certificate at the same time both succeed", async () => {
  const identities = await enrolled();
  await identities.renew("h1", { used: "s1", fresh: "s2" });
  const identity = await identities.find("h1");
  assert.ok(identity !== undefined);
  await Promise.all([identities.markUsed(identity, "s2"), identities.markUsed(identity, "s2")]);
  assert.deepEqual((await identities.find("h1"))?.serials, ["s2"]);
});

test("spent certificates are remembered up to a bound, the latest longest", async () => {
  const identities = await enrolled();
  let used = "s1";
  for (let number = 2; number < SOUTHBOUND_LIMITS.spentSerials + 5; number++) {
    await identities.renew("h1", { used, fresh: `s${number}` });
    const identity = await identities.find("h1");
    assert.ok(identity !== undefined);
    await identities.markUsed(identity, `s${number}`);
    used = `s${number}`;
  }
  const { spent = [], generation } = (await identities.find("h1")) ?? {};
  assert.equal(spent.length, SOUTHBOUND_LIMITS.spentSerials);
  assert.equal(spent.at(-1), `s${SOUTHBOUND_LIMITS.spentSerials + 3}`);
  assert.equal(generation, SOUTHBOUND_LIMITS.spentSerials + 4);
});

test("renewing a host that is not on record changes nothing", async () => {
  const identities = await enrolled();
  assert.equal(await identities.renew("h9", { used: "a", fresh: "b" }), 0);
  assert.equal(await identities.find("h9"), undefined);
});

function order(id: string): Order {
  return { action: { id, tool: "shell", input: {}, callId: "c" }, run: "r", epoch: 1, ttlMs: 1 };
}

test("what an aborted run left on a hand is remembered for that hand, also by the next process", async () => {
  const { records } = memoryStore();
  const stops = new PendingStops(records);
  await stops.add({ id: "h1", owner: "ana" }, order("a1"));
  await stops.add({ id: "h2", owner: "ana" }, order("a2"));
  const next = new PendingStops(records);
  assert.deepEqual(next.of("h1"), []);
  await next.load();
  assert.deepEqual([next.of("h1"), next.of("h2")], [[order("a1")], [order("a2")]]);
  await next.drop("a1");
  await next.drop("none");
  const last = new PendingStops(records);
  await last.load();
  assert.deepEqual([last.of("h1"), last.of("h2")], [[], [order("a2")]]);
});

test("beyond the bound the oldest stop is dropped, from the store too", async () => {
  const { records } = memoryStore();
  const stops = new PendingStops(records);
  for (let number = 0; number <= REGISTER_LIMITS.stops; number++)
    await stops.add({ id: "h1", owner: "ana" }, order(`a${number}`));
  assert.equal(stops.of("h1").length, REGISTER_LIMITS.stops);
  assert.equal(stops.of("h1")[0]?.action.id, "a1");
  assert.equal((await records.list("hand-stop", { limit: 10_000 })).length, REGISTER_LIMITS.stops);
});

test("without a store stops are kept in memory", async () => {
  const stops = new PendingStops();
  await stops.load();
  await stops.add({ id: "h1", owner: "ana" }, order("a1"));
  assert.equal(stops.of("h1").length, 1);
  await stops.drop("a1");
  assert.deepEqual(stops.of("h1"), []);
});

test("an executor's results that no order waits for are kept once each, up to a bound", () => {
  const memory = new OrderMemory();
  const end = { type: "finished", outcome: { kind: "value", text: "t" } } as const;
  assert.ok(!memory.wasGiven("a"));
  memory.markGiven("a");
  memory.keepEnd("a", end);
  assert.ok(memory.wasGiven("a"));
  assert.equal(memory.takeEnd("a"), end);
  assert.equal(memory.takeEnd("a"), undefined, "an end is taken once");
  memory.keepEnd("a", end);
  memory.forget("a");
  assert.deepEqual([memory.takeEnd("a"), memory.wasGiven("a")], [undefined, false]);
  for (let number = 0; number <= REGISTER_LIMITS.orders; number++) memory.keepEnd(`e${number}`, end);
  assert.deepEqual([memory.takeEnd("e0"), memory.takeEnd("e1")], [undefined, end]);
});
