import assert from "node:assert/strict";
import { test } from "node:test";
import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import { Outbox } from "./outbox.ts";

const HERE = new AbortController().signal;
const GONE = { code: "HAND_REVOKED", message: "It was revoked." } as const;

test("messages are given out until they are acknowledged, in their order", async () => {
  const outbox = new Outbox();
  outbox.put({ n: 1 });
  outbox.put({ n: 2 });
  const first = await outbox.next(0, HERE);
  assert.deepEqual(first, { messages: [{ n: 1 }, { n: 2 }], cursor: 2 });
  assert.deepEqual(await outbox.next(0, HERE), first);
  outbox.acknowledge(1);
  outbox.put({ n: 3 });
  assert.deepEqual(await outbox.next(0, HERE), { messages: [{ n: 2 }, { n: 3 }], cursor: 3 });
  outbox.acknowledge();
  assert.deepEqual(await outbox.next(0, HERE), { messages: [], cursor: 3 });
});

test("a poll waits for the first message, and a newer poll ends it", async () => {
  const outbox = new Outbox();
  const first = outbox.next(60_000, HERE);
  const second = outbox.next(60_000, HERE);
  assert.deepEqual((await first).messages, []);
  outbox.put({ n: 1 });
  assert.deepEqual((await second).messages, [{ n: 1 }]);
});

test("an aborted poll ends, and a closed outbox rejects with the reason", async () => {
  const outbox = new Outbox();
  const gone = new AbortController();
  const left = outbox.next(60_000, gone.signal);
  gone.abort();
  assert.deepEqual((await left).messages, []);
  const waiting = outbox.next(60_000, HERE);
  outbox.close(GONE);
  await assert.rejects(waiting, GONE);
  await assert.rejects(outbox.next(0, HERE), GONE);
});

test("an answer is no longer than a message may be, and what waits is bounded", async () => {
  const outbox = new Outbox();
  const text = "x".repeat(REGISTER_LIMITS.messageBytes - 100);
  for (let sent = 0; sent < 8; sent += 1) outbox.put({ text });
  assert.equal((await outbox.next(0, HERE)).messages.length, 1);
  assert.throws(() => outbox.put({ text: text + text }), { code: "PAYLOAD_TOO_LARGE" });
  assert.ok(9 * text.length > SIGNED_HTTP_LIMITS.outboxBytes);
  assert.throws(() => outbox.put({ text }), { code: "HAND_UNAVAILABLE" });
  const many = new Outbox();
  for (let sent = 0; sent < REGISTER_LIMITS.orders; sent += 1) many.put({});
  assert.throws(() => many.put({}), { code: "HAND_UNAVAILABLE" });
});
