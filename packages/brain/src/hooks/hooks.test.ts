import assert from "node:assert/strict";
import { test } from "node:test";
import { HOOK_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
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

test("a hook is kept with all that its owner gave, and has a secret that no other hook has", async () => {
  const hooks = new Hooks(memoryStore().records, () => 7);
  const input = { task: "vê isto", agent: "scout", hand: "tag:web", workspace: "/srv", model: "offline" };
  const hook = await hooks.add(input, WHO);
  assert.deepEqual(hook, { ...input, ...WHO, id: hook.id, secret: hook.secret, createdAt: 7 });
  assert.match(hook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(await hooks.find(hook.id, "ana"), hook);
});

test("the rate of a hook tells when to come back, and counts no call that it refused", async () => {
  const clock = { now: 0 };
  const hooks = new Hooks(memoryStore().records, () => clock.now);
  const hook = await hooks.add({ task: "a" }, WHO);
  for (let call = 0; call < HOOK_LIMITS.callsPerRate; call += 1) {
    hooks.admit(hook);
    clock.now += 1;
  }
  const firstIsOld = HOOK_LIMITS.rateMs;
  for (let again = 0; again < 100; again += 1)
    assert.throws(() => hooks.admit(hook), { code: "RATE_LIMITED", retryAfterMs: firstIsOld - clock.now });
  clock.now = firstIsOld - 1;
  assert.throws(() => hooks.admit(hook), { code: "RATE_LIMITED", retryAfterMs: 1 });
  clock.now = firstIsOld;
  hooks.admit(hook);
  assert.throws(() => hooks.admit(hook), { code: "RATE_LIMITED" });
});

test("a record of another version is no hook, and hides none behind it", async () => {
  const { records } = memoryStore();
  const hooks = new Hooks(records, () => 1);
  const made = [await hooks.add({ task: "a" }, WHO)];
  const foreign: readonly JsonObject[] = [{}, { task: 7, secret: "s" }, { task: "a" }];
  for (const [index, body] of foreign.entries())
    await records.put({ kind: "hook", id: `hook_x${index}`, owner: "ana", body });
  made.push(await hooks.add({ task: "b" }, WHO), await hooks.add({ task: "c" }, WHO));
  for (const limit of [1, 2, 3, 4]) {
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await hooks.list({ owner: "ana", limit, ...(after === undefined ? {} : { after }) });
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1)?.id;
      if (page.length < limit) break;
    }
    assert.deepEqual(
      seen,
      made.map(({ id }) => id),
      `pages of ${limit}`,
    );
  }
  assert.equal(await hooks.find("hook_x0", "ana"), undefined);
});

test("two calls that are settled at once leave one last run, and no error", async () => {
  const { records } = memoryStore();
  const clock = { now: 5 };
  const [hooks, other] = [new Hooks(records, () => clock.now), new Hooks(records, () => clock.now)];
  const { id } = await hooks.add({ task: "a" }, WHO);
  await Promise.all([hooks.settle(id, "run_1"), other.settle(id, "run_2")]);
  const found = await hooks.find(id);
  assert.ok(found?.lastRun === "run_1" || found?.lastRun === "run_2");
  assert.equal(found.lastAt, 5);
});
