import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Watchers } from "./watchers.ts";

test("a watcher is woken when the counter has moved on, and not for what it knows", async () => {
  const watchers = new Watchers();
  const woken: string[] = [];
  watchers.add("run_1", 5, () => woken.push("a"));
  watchers.add("run_1", 5, () => woken.push("b"));
  watchers.tell("run_1", 5);
  watchers.tell("run_1", 4);
  watchers.tell("run_2", 9);
  await setImmediate();
  assert.deepEqual(woken, []);
  watchers.tell("run_1", 6);
  assert.deepEqual(woken, [], "the caller goes on first");
  await setImmediate();
  assert.deepEqual(woken, ["a", "b"]);
  watchers.tell("run_1", 6);
  await setImmediate();
  assert.equal(woken.length, 2);
});

test("each stop ends one watch, also of a function that was given twice", async () => {
  const watchers = new Watchers();
  let woken = 0;
  const wake = (): void => void (woken += 1);
  const stops = [watchers.add("run_1", 0, wake), watchers.add("run_1", 0, wake)];
  stops[0]?.();
  stops[0]?.();
  watchers.tell("run_1", 1);
  await setImmediate();
  assert.equal(woken, 1);
  stops[1]?.();
  assert.deepEqual([watchers.size, watchers.things()], [0, []]);
});

test("a stop from before all watchers were removed does not end a later watch of the same thing", async () => {
  const watchers = new Watchers();
  const stop = watchers.add("run_1", 0, () => undefined);
  watchers.clear();
  let woken = 0;
  watchers.add("run_1", 0, () => (woken += 1));
  stop();
  watchers.tell("run_1", 1);
  await setImmediate();
  assert.deepEqual([watchers.size, woken], [1, 1]);
});

test("a watcher that throws does not keep the others from being woken", async (t) => {
  const watchers = new Watchers();
  const thrown: unknown[] = [];
  let woken = 0;
  watchers.add("run_1", 0, () => {
    throw new Error("a bug");
  });
  watchers.add("run_1", 0, () => (woken += 1));
  const catcher = (error: unknown): void => void thrown.push(error);
  process.setUncaughtExceptionCaptureCallback(catcher);
  t.after(() => process.setUncaughtExceptionCaptureCallback(null));
  watchers.tell("run_1", 1);
  await setImmediate();
  assert.deepEqual([woken, thrown.length], [1, 1]);
});
