import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak.ts";

test("a brain that was asked by many at once gives back what it held: descriptors, threads, children, timers", async (t) => {
  const { leaks, counts } = await soak({ minutes: 0.1, seed: 1 }, (line) => t.diagnostic(line));
  assert.deepEqual(leaks, []);
  assert.ok(counts.runs > 0 && counts.visits > 0 && counts.chats > 0 && counts.reconnects > 0, JSON.stringify(counts));
});
