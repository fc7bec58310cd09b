import assert from "node:assert/strict";
import { test } from "node:test";
import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import { OutgoingMessages } from "./outgoing-messages.ts";

const HERE = new AbortController().signal;
const WIDE = 1_000_000;

test("what is to be told waits until it was told, and is told in its order", async () => {
  const telling = new OutgoingMessages();
  const waiting = telling.next(WIDE, HERE);
  telling.add({ n: 1 });
  assert.deepEqual(await waiting, [{ n: 1 }]);
  telling.add({ n: 2 });
  assert.deepEqual(await telling.next(WIDE, HERE), [{ n: 1 }, { n: 2 }]);
  telling.removeFirst(1);
  assert.deepEqual(await telling.next(WIDE, HERE), [{ n: 2 }]);
});

test("live output is dropped with the connection, ends of actions are not", async () => {
  const telling = new OutgoingMessages();
  telling.add({ method: "exec.output", chunk: "a" });
  telling.add({ method: "action.result", ok: true });
  telling.dropLiveOutput();
  assert.deepEqual(await telling.next(WIDE, HERE), [{ method: "action.result", ok: true }]);
});

test("a request has as many messages as fit, and one at least", async () => {
  const telling = new OutgoingMessages();
  for (let added = 0; added < REGISTER_LIMITS.orders; added += 1) assert.ok(telling.add({ text: "x".repeat(100) }));
  assert.equal(telling.add({}), false);
  assert.equal((await telling.next(1, HERE)).length, 1);
  assert.equal((await telling.next(250, HERE)).length, 2);
  assert.equal((await telling.next(WIDE, HERE)).length, SIGNED_HTTP_LIMITS.messages);
});

test("a wait for messages ends with the connection", async () => {
  const gone = new AbortController();
  const waiting = new OutgoingMessages().next(WIDE, gone.signal);
  gone.abort();
  assert.deepEqual(await waiting, []);
});
