import assert from "node:assert/strict";
import { test } from "node:test";
import { HOOK_LIMITS } from "@vidro/core";
import { memoryStore } from "../stores/memory.ts";
import { Hooks } from "./hooks.ts";

const WHO = { owner: "ana", token: "t" };

test("a hook takes so many calls in a minute, and others go on", async () => {
  const clock = { now: 1_000_000 };
  const hooks = new Hooks(memoryStore().records, () => clock.now);
  const [one, other] = [await hooks.add({ task: "a" }, WHO), await hooks.add({ task: "b" }, WHO)];
  assert.notEqual(one.secret, other.secret);
  for (let call = 0; call < HOOK_LIMITS.callsPerRate; call += 1) hooks.admit(one);
  assert.throws(() => hooks.admit(one), { code: "RATE_LIMITED" });
  hooks.admit(other);
  clock.now += HOOK_LIMITS.rateMs;
  hooks.admit(one);
});

test("an owner has a bounded number of hooks, sees only its own, and a removed one does not come back", async () => {
  const hooks = new Hooks(memoryStore().records, () => 1);
  const hook = await hooks.add({ task: "a" }, WHO);
  assert.equal(await hooks.find(hook.id, "bob"), undefined);
  await hooks.settle(hook.id, "run_1");
  assert.equal((await hooks.find(hook.id, "ana"))?.lastRun, "run_1");
  await hooks.remove(hook.id);
  await hooks.settle(hook.id, "run_2");
  assert.equal(await hooks.find(hook.id), undefined);
  for (let made = 0; made < HOOK_LIMITS.perOwner; made += 1) await hooks.add({ task: "a" }, WHO);
  await assert.rejects(hooks.add({ task: "a" }, WHO), { code: "CONFLICT" });
  await hooks.add({ task: "a" }, { ...WHO, owner: "bob" });
});
