import assert from "node:assert/strict";
import { test } from "node:test";
import { BUS_LIMITS, Fault } from "@vidro/core";
import type { JsonObject, Records } from "@vidro/core";
import { memoryBus } from "../../bus/memory-bus.ts";
import { memoryStore } from "../../stores/memory.ts";
import { openSignedMessages } from "./signed-messages.ts";

const turn = (): Promise<unknown> => new Promise(setImmediate);

/** Brains on one bus and one store. */
async function brains(count: number, records: Records = memoryStore().records) {
  const address = `memory-${Math.random()}`;
  const buses = Array.from({ length: count }, () => memoryBus(address));
  const messages = await Promise.all(buses.map((bus) => openSignedMessages(bus, records)));
  return { address, buses, messages };
}

test("brains that start at once on one store hear each other, by name, on their topic alone", async () => {
  const { buses, messages } = await brains(4);
  const heard: [at: number, message: JsonObject, from: string][] = [];
  for (const [at, one] of messages.entries()) one.hear("t", (message, from) => heard.push([at, message, from]));
  messages[0]?.send("t", { say: "olá" });
  messages[0]?.send("other", { say: "no" });
  await turn();
  assert.deepEqual(
    heard,
    [1, 2, 3].map((at) => [at, { say: "olá" }, buses[0]?.brain]),
  );
});

test("a program on the bus without the key of the store is not heard, nor is a message moved to another topic", async () => {
  const { address, messages } = await brains(2);
  const heard: JsonObject[] = [];
  for (const topic of ["t", "u"]) messages[0]?.hear(topic, (message) => heard.push(message));
  const stranger = memoryBus(address);
  const caught: string[] = [];
  stranger.subscribe("t", (signed) => caught.push(signed));
  messages[1]?.send("t", { order: "ls" });
  await turn();
  assert.equal(heard.length, 1);
  const [signed = ""] = caught;
  const forged = [
    "",
    "{}",
    '{"order":"rm"}',
    `${"0".repeat(64)}{"order":"rm"}`,
    signed.slice(0, 64) + '{"order":"rm"}',
    signed.slice(0, 63),
    signed,
    signed.toUpperCase(),
    `é${signed.slice(1)}`,
  ];
  // Under its own name, which is part of what is signed.
  for (const text of forged) for (const topic of ["t", "u"]) stranger.publish(topic, text);
  const other = await openSignedMessages(stranger, memoryStore().records);
  other.send("t", { order: "rm" });
  await turn();
  assert.deepEqual(heard, [{ order: "ls" }]);
});

test("a message is as long as the bus takes, and one character more is refused before it is sent", async () => {
  const { messages } = await brains(2);
  let chars = 0;
  messages[1]?.hear("t", (message) => (chars = JSON.stringify(message).length));
  const bare = JSON.stringify({ text: "" }).length + 64;
  const text = "x".repeat(BUS_LIMITS.messageChars - bare);
  assert.throws(() => messages[0]?.send("t", { text: `${text}x` }), { code: "PAYLOAD_TOO_LARGE" });
  messages[0]?.send("t", { text });
  await turn();
  assert.equal(chars, BUS_LIMITS.messageChars - 64);
});

test("what is not an object is not told, and who has stopped hears nothing", async () => {
  const { messages } = await brains(2);
  const heard: JsonObject[] = [];
  const stop = messages[0]?.hear("t", (message) => heard.push(message));
  messages[1]?.send("t", [1] as unknown as JsonObject);
  messages[1]?.send("t", { a: 1 });
  await turn();
  stop?.();
  messages[1]?.send("t", { a: 2 });
  await turn();
  assert.deepEqual(heard, [{ a: 1 }]);
});

test("a brain that cannot store the shared key does not start with one of its own", async () => {
  const { records } = memoryStore();
  let fault: Fault | undefined = new Fault("STORE_BUSY");
  const failing: Records = {
    get: (kind, id) => records.get(kind, id),
    list: (kind, filter) => records.list(kind, filter),
    delete: (kind, id) => records.delete(kind, id),
    watch: (kind, wake) => records.watch(kind, wake),
    put: (record, version) => (fault === undefined ? records.put(record, version) : Promise.reject(fault)),
  };
  await assert.rejects(openSignedMessages(memoryBus("x"), failing), { code: "STORE_BUSY" });
  fault = undefined;
  const { messages } = await brains(1, failing);
  assert.equal(messages.length, 1);
  await records.put({ kind: "bus-key", id: "relay", owner: "brain", body: { key: "short" } });
  await assert.rejects(openSignedMessages(memoryBus("x"), records), { code: "STORE_FAILED" });
});
