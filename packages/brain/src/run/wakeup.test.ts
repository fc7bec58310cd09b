import assert from "node:assert/strict";
import { test } from "node:test";
import { Wakeup } from "./wakeup.ts";

/** Whether a promise has settled after all callbacks that are ready now. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise(setImmediate);
  return settled;
}

test("a wait resolves at the next wake and not before", async () => {
  const wakeup = new Wakeup();
  const waiting = wakeup.wait();
  assert.equal(await isSettled(waiting), false);
  wakeup.wake();
  assert.equal(await isSettled(waiting), true);
});

test("a wake without a waiter is kept for the next wait, once", async () => {
  const wakeup = new Wakeup();
  wakeup.wake();
  wakeup.wake();
  await wakeup.wait();
  const next = wakeup.wait();
  assert.equal(await isSettled(next), false, "two wakes before one wait are one");
  wakeup.wake();
  await next;
});
