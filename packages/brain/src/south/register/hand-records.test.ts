import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { REGISTER_LIMITS } from "@vidro/core";
import type { HandDescription, Order, Records } from "@vidro/core";
import { ReceiptKeys } from "../receipt-keys.ts";
import { folder } from "../../stores/journal.fixture.ts";
import { memoryStore } from "../../stores/memory.ts";
import { sqliteStore } from "../../stores/sqlite.ts";
import { HandRecords } from "./hand-records.ts";
import { PendingStops } from "./pending-stops.ts";

const TOOL = { name: "shell", description: "d", parameters: { type: "object" }, idempotent: false };
const hand = (id: string, more: Partial<HandDescription> = {}): HandDescription => ({
  id,
  owner: "ana",
  name: `host ${id}`,
  gateway: "agent-ws",
  version: "1.2.3",
  workspace: "/srv",
  tools: [TOOL],
  tags: ["web", "ção"],
  ...more,
});

/** Runs some work on a store in a file, with a new process for each step. */
async function inProcesses(steps: readonly ((records: Records) => Promise<void>)[]): Promise<void> {
  using place = folder();
  for (const step of steps) {
    const store = await sqliteStore(join(place.path, "store"));
    await step(store.records);
    await store.close();
  }
}

test("a hand comes back to the next process as it was, with its tools and its epoch", async () => {
  const one = hand("h1", { receiptKey: "ab".repeat(32) });
  await inProcesses([
    (records) => new HandRecords(records).keep(one, { epoch: 7, lastSeenAt: 5 }),
    async (records) => {
      const kept = new HandRecords(records);
      const found = (await kept.find("h1")) ?? assert.fail();
      assert.deepEqual(found.description, one);
      assert.deepEqual([found.epoch, found.lastSeenAt], [7, 5]);
      assert.deepEqual(await kept.all(10), [found]);
      assert.equal(await kept.find("h2"), undefined);
    },
  ]);
});

test("a hand whose list of tools is lost is still known, without tools", async () => {
  const { records } = memoryStore();
  const kept = new HandRecords(records);
  await kept.keep(hand("h1"), { epoch: 1, lastSeenAt: 1 });
  const [list] = await records.list("hand-tools", { limit: 2 });
  assert.equal(await records.delete("hand-tools", list?.id ?? ""), true);
  const again = new HandRecords(records);
  const found = await again.find("h1");
  assert.deepEqual([found?.description.name, found?.description.tools], ["host h1", []]);
});

test("a restriction outlives its hand, and hands that are forgotten come back restricted", async () => {
  const { records } = memoryStore();
  const kept = new HandRecords(records);
  await kept.keep(hand("h1"), { epoch: 1, lastSeenAt: 1 });
  await kept.bar(hand("h1"), { barred: "revoked", why: "lost laptop" });
  await kept.forget("h1");
  assert.equal(await kept.find("h1"), undefined);
  assert.deepEqual(await new HandRecords(records).barOf("h1"), { barred: "revoked", why: "lost laptop" });
  await kept.unbar("h1");
  assert.equal(await kept.barOf("h1"), undefined);
  await kept.unbar("h1");
});

test("every restriction of more than a thousand is read, and each change is told", async () => {
  const { records } = memoryStore();
  const kept = new HandRecords(records);
  let changes = 0;
  const stop = kept.watchBars(() => (changes += 1));
  for (let at = 0; at < 1001; at += 1) await kept.bar(hand(`h${at}`), { barred: "revoked", why: String(at) });
  assert.equal(changes, 1001);
  stop();
  const bars = await kept.bars();
  assert.equal(bars.size, 1001);
  assert.equal(bars.get("h1000")?.why, "1000");
});

test("receipt keys are kept for good, each once, also those of hands that have another one now", async () => {
  const { records } = memoryStore();
  const keys = new ReceiptKeys(records);
  const key = (digits: string, name = "one"): Parameters<ReceiptKeys["keep"]>[0] => ({
    hand: "h1",
    name,
    key: digits.repeat(64),
    owner: "ana",
  });
  await keys.keep(key("a"));
  await keys.keep(key("a", "renamed"));
  await keys.keep(key("b"));
  await new ReceiptKeys(records).keep(key("a"));
  assert.deepEqual(
    (await keys.all()).map(({ name, key: kept }) => [name, kept[0]]),
    [
      ["one", "a"],
      ["one", "b"],
    ],
  );
  for (let at = 0; at < 1000; at += 1) await keys.keep({ ...key("c"), hand: `x${at}` });
  assert.equal((await new ReceiptKeys(records).all()).length, 1002);
});

const order = (id: string): Order => ({
  action: { id, callId: "c", tool: "shell", input: { command: "sleep 1" } },
  epoch: 1,
  run: "run_1",
  ttlMs: 0,
});
const ids = (orders: readonly Order[]): readonly string[] => orders.map(({ action }) => action.id);

test("what a hand has to stop is known to the next process, for that hand alone, until it has stopped it", async () => {
  await inProcesses([
    async (records) => {
      const stops = new PendingStops(records);
      await stops.add(hand("h1"), order("act_1"));
      await stops.add(hand("h1"), order("act_2"));
      await stops.add(hand("h2"), order("act_3"));
      await stops.drop("act_1");
      await stops.drop("act_unknown");
    },
    async (records) => {
      const stops = new PendingStops(records);
      assert.deepEqual(stops.of("h1"), []);
      await stops.load();
      assert.deepEqual([ids(stops.of("h1")), ids(stops.of("h2")), ids(stops.of("h3"))], [["act_2"], ["act_3"], []]);
      assert.deepEqual(stops.of("h1"), [order("act_2")]);
    },
  ]);
});

test("of too many stops the oldest are given up, in memory and on disk", async () => {
  const { records } = memoryStore();
  const stops = new PendingStops(records);
  for (let at = 0; at <= REGISTER_LIMITS.stops; at += 1) await stops.add(hand("h1"), order(`act_${at}`));
  assert.equal(stops.of("h1").length, REGISTER_LIMITS.stops);
  const again = new PendingStops(records);
  await again.load();
  assert.deepEqual(ids(again.of("h1")), ids(stops.of("h1")));
  assert.equal(ids(again.of("h1")).includes("act_0"), false);
});

test("stops without a store live as long as their process", async () => {
  const stops = new PendingStops();
  await stops.load();
  await stops.add(hand("h1"), order("act_1"));
  await stops.drop("act_1");
  assert.deepEqual(stops.of("h1"), []);
});
