import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { WORKER_LIMITS } from "@vidro/core";
import { TurnQueue } from "./turn-queue.ts";

const never = new AbortController().signal;

test("slots are given in the order in which generations came", async () => {
  const queue = new TurnQueue(1);
  const order: string[] = [];
  const first = await queue.take(undefined, never);
  const others = ["a", "b", "c"].map(async (name) => {
    const slot = await queue.take(undefined, never);
    order.push(name);
    queue.release(slot);
  });
  assert.deepEqual(order, []);
  queue.release(first);
  await Promise.all(others);
  assert.deepEqual(order, ["a", "b", "c"]);
});

test("a generation gets the slot that knows its conversation when it is free, else another", async () => {
  const queue = new TurnQueue(3);
  assert.equal(await queue.take(2, never), 2);
  assert.equal(await queue.take(2, never), 0);
  queue.release(2);
  // The slot that was given back last is the last that another conversation takes.
  assert.equal(await queue.take(undefined, never), 1);
  assert.equal(await queue.take(undefined, never), 2);
});

test("one that is aborted leaves the queue, and takes no slot", async () => {
  const queue = new TurnQueue(1);
  const slot = await queue.take(undefined, never);
  const gone = new AbortController();
  const waiting = queue.take(undefined, gone.signal);
  const next = queue.take(undefined, never);
  gone.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  queue.release(slot);
  assert.equal(await next, slot);
  await assert.rejects(queue.take(undefined, AbortSignal.abort(new Error("too late"))), /too late/);
});

test("more than may wait are refused by name", async () => {
  const queue = new TurnQueue(1);
  await queue.take(undefined, never);
  const leave = new AbortController();
  const waiting = Array.from({ length: WORKER_LIMITS.waiting }, () => queue.take(undefined, leave.signal));
  await assert.rejects(queue.take(undefined, never), { code: "MODEL_RATE_LIMITED" });
  leave.abort();
  assert.ok((await Promise.allSettled(waiting)).every(({ status }) => status === "rejected"));
});

test("whatever takes, gives back and leaves, no slot is used twice at once and none is lost", async () => {
  const step = fc.record({
    favourite: fc.option(fc.nat(3), { nil: undefined }),
    isAborted: fc.boolean(),
    turns: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 20 }), async (slots, steps) => {
      const queue = new TurnQueue(slots);
      const used = new Set<number>();
      const work = steps.map(async ({ favourite, isAborted, turns }) => {
        const leave = new AbortController();
        const taken = queue.take(favourite, leave.signal).catch(() => undefined);
        if (isAborted) leave.abort();
        const slot = await taken;
        if (slot === undefined) return;
        assert.ok(!used.has(slot) && slot < slots);
        used.add(slot);
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        used.delete(slot);
        queue.release(slot);
      });
      await Promise.all(work);
      const all = await Promise.all(Array.from({ length: slots }, () => queue.take(undefined, never)));
      assert.equal(new Set(all).size, slots);
    }),
  );
});
