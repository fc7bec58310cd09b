import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LoopLag } from "./loop-lag.ts";

test("a delay of the event loop is seen by each of two readers, also after the second in which it was", async () => {
  const lag = new LoopLag();
  await sleep(50);
  const blockedUntil = performance.now() + 300;
  while (performance.now() < blockedUntil);
  while (lag.worstSeconds() < 0.2) await sleep(10);
  const first = lag.worstSeconds();
  assert.ok(lag.worstSeconds() >= first);
  await sleep(1500);
  assert.ok(lag.worstSeconds() >= first, "it is forgotten only after a minute");
  lag.close();
});
