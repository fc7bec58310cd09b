import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS, MINUTE_MS } from "@vidro/core";
import { memoryStore } from "../stores/memory.ts";
import { Scheduler } from "./scheduler.ts";
import { Schedules } from "./schedules.ts";
import type { ScheduleInput } from "./schedules.ts";

const START = new Date("2026-11-18T10:30").getTime();
const WHO = { owner: "ana", token: "t" };

/** Schedules of one store at a clock that the test sets, and the keys that runs were started with. */
function stage() {
  const clock = { now: START };
  const schedules = new Schedules(memoryStore().records, () => clock.now);
  const keys: string[] = [];
  const failures: string[] = [];
  const scheduler = (start?: () => Promise<string>): Scheduler =>
    new Scheduler({
      schedules,
      now: () => clock.now,
      start: async (_, key) => {
        keys.push(key);
        return start === undefined ? `run_${new Set(keys).size}` : start();
      },
      started: () => undefined,
      failed: (_, { code }) => failures.push(code),
    });
  const add = (input: Partial<ScheduleInput> = {}) => schedules.add({ cron: "0 * * * *", task: "look", ...input }, WHO);
  return { clock, schedules, keys, failures, scheduler, add };
}

test("a run is started at each time, once, and the next look is at the next time", async () => {
  const { clock, schedules, keys, scheduler, add } = stage();
  const { id } = await add();
  const one = scheduler();
  await one.look();
  assert.deepEqual(keys, []);
  clock.now = START + 30 * MINUTE_MS;
  assert.ok((await one.look()) <= clock.now + MINUTE_MS);
  await one.look();
  assert.deepEqual(keys, [`${id}:${clock.now}`]);
  assert.equal((await schedules.find(id)).lastRun, "run_1");
  clock.now += HOUR_MS;
  await one.look();
  assert.equal(keys.length, 2);
});

test("a brain that is killed between the start of the run and its record starts it again under the same key", async () => {
  const { clock, keys, scheduler, add } = stage();
  await add();
  clock.now = START + 31 * MINUTE_MS;
  // The start of the run is on disk; the process never comes to record it.
  void scheduler(() => new Promise<string>(() => undefined)).look();
  await new Promise(setImmediate);
  await scheduler().look();
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
});

test("two brains that look at the same moment start one key", async () => {
  const { clock, keys, scheduler, add } = stage();
  await add();
  clock.now = START + 30 * MINUTE_MS;
  await Promise.all([scheduler().look(), scheduler().look()]);
  assert.equal(new Set(keys).size, 1);
});

test("of times that were missed the last one gets a run, or none by choice", async () => {
  const { clock, schedules, keys, scheduler, add } = stage();
  const [once, skip] = [await add(), await add({ missed: "skip" })];
  const minutely = await add({ cron: "* * * * *" });
  clock.now = START + 1000 * HOUR_MS + 45 * MINUTE_MS;
  await scheduler().look();
  const due = new Date(clock.now).setMinutes(0, 0, 0);
  assert.deepEqual(keys.toSorted(), [`${once.id}:${due}`, `${minutely.id}:${clock.now}`].toSorted());
  assert.equal((await schedules.find(skip.id)).doneUpTo, due);
  await scheduler().look();
  assert.equal(keys.length, 2);
});

test("a run that cannot be started is on record with the reason, and the next time is tried", async () => {
  const { clock, schedules, failures, scheduler, add } = stage();
  const { id } = await add();
  clock.now = START + 30 * MINUTE_MS;
  await scheduler(() => Promise.reject(new Error("no hand"))).look();
  assert.equal(failures.length, 1);
  assert.match((await schedules.find(id)).lastFault ?? "", /no hand/);
  clock.now += HOUR_MS;
  await scheduler().look();
  const after = await schedules.find(id);
  assert.deepEqual([after.lastFault, after.lastRun !== undefined], [undefined, true]);
});

test("a schedule that never comes due, and one too many, are refused", async () => {
  const { add } = stage();
  await assert.rejects(add({ cron: "0 0 30 2 *" }), { code: "BAD_REQUEST" });
  for (let count = 0; count < 100; count += 1) await add();
  await assert.rejects(add(), { code: "CONFLICT" });
});

test(
  "a schedule that is added while others are looked at is looked at right behind them",
  { timeout: 30_000 },
  async (t) => {
    const { records } = memoryStore();
    const schedules = new Schedules(records, () => START);
    const [blocked, go, late] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const first = await schedules.add({ cron: "0 * * * *", task: "slow" }, WHO);
    const scheduler = new Scheduler({
      schedules,
      now: () => START + 30 * MINUTE_MS,
      start: async ({ task }) => {
        if (task === "late") late!.resolve();
        else blocked!.resolve();
        if (task === "slow") await go!.promise;
        return "run_1";
      },
      started: () => undefined,
      failed: () => undefined,
    });
    t.after(() => scheduler.close());
    scheduler.start();
    await blocked!.promise;
    const { id: _, owner, ...body } = { ...first, task: "late" };
    await records.put({ kind: "schedule", id: "schedule_late", owner, body: { ...body } });
    // Its change is told by a timer of no length.
    await new Promise((resolve) => setTimeout(resolve, 5));
    go!.resolve();
    await late!.promise;
  },
);

test("closing waits for the run that is being started, and starts no other", async () => {
  const { clock, keys, scheduler, add } = stage();
  await add();
  await add();
  clock.now = START + 30 * MINUTE_MS;
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const one = scheduler(() => {
    begun.resolve();
    return go.promise;
  });
  one.start();
  await begun.promise;
  let isClosed = false;
  const closed = one.close().then(() => (isClosed = true));
  await new Promise(setImmediate);
  assert.equal(isClosed, false);
  go.resolve("run_1");
  await closed;
  assert.equal(keys.length, 1, "the other is started by the next brain, under the same key");
});

test("a store that cannot be read ends no scheduler: the next look starts what is due", async (t) => {
  const { clock, schedules, keys, add } = stage();
  await add();
  clock.now = START + 30 * MINUTE_MS;
  let isBusy = true;
  const refused = Promise.withResolvers<void>();
  const failing = new Proxy(schedules, {
    get(target, name) {
      if (name === "list" && isBusy)
        return () => {
          isBusy = false;
          refused.resolve();
          return Promise.reject(new Error("busy"));
        };
      const found: unknown = Reflect.get(target, name);
      return typeof found === "function" ? (found as () => unknown).bind(target) : found;
    },
  });
  const started = Promise.withResolvers<string>();
  const one = new Scheduler({
    schedules: failing,
    now: () => clock.now,
    start: async (_, key) => {
      keys.push(key);
      return "run_1";
    },
    started: (_, run) => started.resolve(run),
    failed: () => undefined,
  });
  t.after(() => one.close());
  one.start();
  await refused.promise;
  // A change wakes it before the time of the next try.
  await add({ cron: "30 3 * * *" });
  assert.equal(await started.promise, "run_1");
});
