import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, HOUR_MS, PAGE_LIMITS, SCHEDULE_LIMITS } from "@vidro/core";
import type { JsonObject, Records } from "@vidro/core";
import { memoryStore } from "../stores/memory.ts";
import { Scheduler } from "./scheduler.ts";
import { Schedules } from "./schedules.ts";
import type { Schedule, ScheduleInput } from "./schedules.ts";

const START = new Date("2026-11-18T10:30").getTime();
const ANA = { owner: "ana", token: "t" };
const INPUT: ScheduleInput = { cron: "0 * * * *", task: "look" };

function stage(records: Records = memoryStore().records) {
  const clock = { now: START };
  return { clock, records, schedules: new Schedules(records, () => clock.now) };
}

/** Puts the record of a schedule that another version wrote. */
async function putForeign(records: Records, id: string, body: JsonObject): Promise<void> {
  await records.put({ kind: "schedule", id, owner: "ana", body });
}

/** Bodies that this version cannot take for a schedule. */
const FOREIGN: readonly JsonObject[] = [
  {},
  { cron: "0 * * * *" },
  { cron: 7, doneUpTo: 1 },
  { cron: "0 * * * *", doneUpTo: "1" },
  { cron: "0 0 7 * * *", doneUpTo: 1, task: "with seconds" },
  { cron: "@reboot", doneUpTo: 1, task: "at the start" },
];

test("a schedule is found as it was made, by its owner and by one who sees all", async () => {
  const { schedules } = stage();
  const input: ScheduleInput = {
    cron: " 5 4 * * sun ",
    task: "limpar o disco 🧹",
    agent: "scout",
    hand: "tag:web",
    workspace: "/srv",
    model: "offline",
    missed: "skip",
  };
  const made = await schedules.add(input, ANA);
  assert.match(made.id, /^schedule_[0-9a-f-]{36}$/);
  assert.deepEqual(made, { ...input, ...ANA, id: made.id, createdAt: START, doneUpTo: START });
  assert.deepEqual(await schedules.find(made.id, "ana"), made);
  assert.deepEqual(await schedules.find(made.id), made);
});

test("another owner's schedule is not found, and not removed, in the words for one that is not there", async () => {
  const { schedules } = stage();
  const { id } = await schedules.add(INPUT, ANA);
  const words = (name: string) => ({ code: "NOT_FOUND", message: `There is no schedule "${name}".` });
  await assert.rejects(schedules.find(id, "bob"), words(id));
  await assert.rejects(schedules.remove(id, "bob"), words(id));
  await assert.rejects(schedules.find("none", "bob"), words("none"));
  assert.deepEqual(await schedules.list({ owner: "bob", limit: 10 }), []);
  await schedules.remove(id, "ana");
  await assert.rejects(schedules.remove(id, "ana"), words(id));
});

test("times that are wrong or never come are refused, and nothing is stored", async () => {
  const { schedules } = stage();
  for (const cron of ["", "* * * *", "61 * * * *", "0 0 31 2 *", "__proto__", "0 0 30 feb *"])
    await assert.rejects(schedules.add({ ...INPUT, cron }, ANA), { code: "BAD_REQUEST" }, cron);
  assert.deepEqual(await schedules.list({ limit: 10 }), []);
});

test("the bound on schedules is each owner's own, and a removed one makes room", async () => {
  const { schedules } = stage();
  const ids: string[] = [];
  for (let made = 0; made < SCHEDULE_LIMITS.perOwner; made += 1) ids.push((await schedules.add(INPUT, ANA)).id);
  await assert.rejects(schedules.add(INPUT, ANA), { code: "CONFLICT" });
  await schedules.add(INPUT, { ...ANA, owner: "bob" });
  await schedules.remove(ids[0]!, "ana");
  await schedules.add(INPUT, ANA);
  await assert.rejects(schedules.add(INPUT, ANA), { code: "CONFLICT" });
});

test("more than a thousand schedules are listed page by page, the oldest first, each once", async () => {
  const { schedules } = stage();
  const made: string[] = [];
  for (let owner = 0; made.length < 1050; owner += 1)
    for (let count = 0; count < 70; count += 1)
      made.push((await schedules.add(INPUT, { owner: `o${owner}`, token: "t" })).id);
  const seen: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await schedules.list({ limit: 64, ...(after === undefined ? {} : { after }) });
    seen.push(...page.map(({ id }) => id));
    after = page.at(-1)?.id;
    if (page.length < 64) break;
  }
  assert.deepEqual(seen, made);
});

test("a record of another version is no schedule, and hides none behind it", async () => {
  const { schedules, records } = stage();
  const first = await schedules.add(INPUT, ANA);
  for (const [index, body] of FOREIGN.entries()) await putForeign(records, `schedule_x${index}`, body);
  const second = await schedules.add(INPUT, ANA);
  const third = await schedules.add(INPUT, ANA);
  const ids = (found: readonly Schedule[]): readonly string[] => found.map(({ id }) => id);
  for (const limit of [1, 2, 3, 4, 20]) {
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await schedules.list({ owner: "ana", limit, ...(after === undefined ? {} : { after }) });
      seen.push(...ids(page));
      after = page.at(-1)?.id;
      if (page.length < limit) break;
    }
    assert.deepEqual(seen, [first.id, second.id, third.id], `pages of ${limit}`);
  }
  for (const index of FOREIGN.keys())
    await assert.rejects(schedules.find(`schedule_x${index}`, "ana"), { code: "NOT_FOUND" });
});

test("a schedule of another version does not keep the others from being started", async () => {
  const { schedules, records, clock } = stage();
  for (const [index, body] of FOREIGN.entries()) await putForeign(records, `schedule_x${index}`, body);
  const { id } = await schedules.add(INPUT, ANA);
  const keys: string[] = [];
  const scheduler = new Scheduler({
    schedules,
    now: () => clock.now,
    start: async (_, key) => {
      keys.push(key);
      return "run_1";
    },
    started: () => undefined,
    failed: () => undefined,
  });
  clock.now += HOUR_MS;
  await scheduler.look();
  assert.deepEqual(keys, [`${id}:${new Date("2026-11-18T11:00").getTime()}`]);
});

test("every schedule of more than one page is started", async () => {
  const { schedules, clock } = stage();
  const count = PAGE_LIMITS.items + 1;
  for (let made = 0; made < count; made += 1) await schedules.add(INPUT, { owner: `o${made % 20}`, token: "t" });
  const started = new Set<string>();
  const scheduler = new Scheduler({
    schedules,
    now: () => clock.now,
    start: async (_, key) => key,
    started: ({ id }) => started.add(id),
    failed: () => undefined,
  });
  clock.now += HOUR_MS;
  await scheduler.look();
  assert.equal(started.size, count);
});

test("what became of a time is recorded once, and never goes back", async () => {
  const { schedules } = stage();
  const { id } = await schedules.add(INPUT, ANA);
  await schedules.settle(id, { doneUpTo: START + 2, lastRun: "run_2" });
  await schedules.settle(id, { doneUpTo: START + 1, lastRun: "run_1" });
  await schedules.settle(id, { doneUpTo: START + 2, lastFault: "HAND_UNAVAILABLE: away" });
  const settled = await schedules.find(id);
  assert.deepEqual([settled.doneUpTo, settled.lastRun, settled.lastFault], [START + 2, "run_2", undefined]);
  await schedules.settle(id, { doneUpTo: START + 3, lastFault: "HAND_UNAVAILABLE: away" });
  const failed = await schedules.find(id);
  assert.deepEqual([failed.lastRun, failed.lastFault], ["run_2", "HAND_UNAVAILABLE: away"]);
  await schedules.settle(id, { doneUpTo: START + 4, lastRun: "run_4" });
  assert.equal("lastFault" in (await schedules.find(id)), false);
});

test("two brains that settle the same schedule at once leave the record of one of them", async () => {
  const { schedules, records } = stage();
  const other = new Schedules(records, () => START);
  const { id } = await schedules.add(INPUT, ANA);
  await Promise.all([
    schedules.settle(id, { doneUpTo: START + 5, lastRun: "run_a" }),
    other.settle(id, { doneUpTo: START + 5, lastRun: "run_b" }),
  ]);
  const { doneUpTo, lastRun } = await schedules.find(id);
  assert.equal(doneUpTo, START + 5);
  assert.ok(lastRun === "run_a" || lastRun === "run_b");
});

test("a schedule that was removed while its run was started stays removed", async () => {
  const { schedules } = stage();
  const { id } = await schedules.add(INPUT, ANA);
  await schedules.remove(id, "ana");
  await schedules.settle(id, { doneUpTo: START + 1, lastRun: "run_1" });
  assert.deepEqual(await schedules.list({ limit: 10 }), []);
});

test("a store that fails while a time is settled says so; only a record that changed meanwhile is passed over", async () => {
  const { records } = memoryStore();
  let fault: Fault | undefined;
  const failing: Records = {
    get: (kind, id) => records.get(kind, id),
    list: (kind, filter) => records.list(kind, filter),
    delete: (kind, id) => records.delete(kind, id),
    watch: (kind, changed) => records.watch(kind, changed),
    put: (record, version) => (fault === undefined ? records.put(record, version) : Promise.reject(fault)),
  };
  const { schedules } = stage(failing);
  const { id } = await schedules.add(INPUT, ANA);
  fault = new Fault("STORAGE_FULL");
  await assert.rejects(schedules.settle(id, { doneUpTo: START + 1 }), { code: "STORAGE_FULL" });
  fault = new Fault("CONFLICT");
  await schedules.settle(id, { doneUpTo: START + 1 });
  fault = undefined;
  assert.equal((await schedules.find(id)).doneUpTo, START);
});

test("each change of a schedule is told, and none after the watch ended", async () => {
  const { schedules } = stage();
  let changes = 0;
  const stop = schedules.watch(() => (changes += 1));
  const { id } = await schedules.add(INPUT, ANA);
  assert.equal(changes, 1);
  await schedules.settle(id, { doneUpTo: START + 1 });
  assert.equal(changes, 2);
  await schedules.remove(id);
  assert.equal(changes, 3);
  stop();
  await schedules.add(INPUT, ANA);
  assert.equal(changes, 3);
});
