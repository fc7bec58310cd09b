import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, RUN_LIMITS, STORE_LIMITS } from "@vidro/core";
import type { Entry, FaultCode, Journal, Lease } from "@vidro/core";
import { begin, entries } from "../stores/journal.fixture.ts";
import { memoryStore } from "../stores/memory.ts";
import { JournalWriter } from "./journal-writer.ts";

interface Stage {
  readonly writer: JournalWriter;
  readonly journal: Journal;
  readonly lease: Lease;
  /** Faults of the next appends, in order; `lost` answers are those of commits that did happen. */
  readonly faults: { code: FaultCode; isDone?: boolean }[];
  readonly appends: number[][];
}

/** A writer over the memory store, whose appends fail as the test says. */
async function stage(t: TestContext): Promise<Stage> {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  t.after(() => mock.timers.reset());
  const { journal } = memoryStore();
  const lease = await begin(journal, "r1");
  const faults: Stage["faults"] = [];
  const appends: number[][] = [];
  const append = async (by: Lease, added: readonly Entry[]): Promise<void> => {
    appends.push(added.map(({ seq }) => seq));
    const fault = faults.shift();
    if (fault === undefined || fault.isDone === true) await appendOnce(journal, by, added);
    if (fault !== undefined) throw new Fault(fault.code);
  };
  const writer = new JournalWriter(
    { append, renew: (by) => journal.renew(by), release: (by) => journal.release(by) },
    lease,
  );
  return { writer, journal, lease, faults, appends };
}

/** As stores do: entries that are there to the letter are left alone. */
async function appendOnce(journal: Journal, lease: Lease, added: readonly Entry[]): Promise<void> {
  const { seq = 0 } = (await journal.head("r1")) ?? {};
  const left = added.filter((one) => one.seq > seq);
  if (left.length > 0) await journal.append(lease, left);
}

async function kept(journal: Journal): Promise<number[]> {
  return (await journal.read("r1", 1, 100)).map(({ seq }) => seq);
}

/** Lets pending promises go on, then the timers of so many milliseconds. */
async function pass(ms: number): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  mock.timers.tick(ms);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

const next = (from: number, to = from): Entry[] => entries(from, to);

/** Sends entries as an append of their own. */
function saveNow(writer: JournalWriter, added: readonly Entry[]): Promise<void> {
  const saved = writer.add(added);
  writer.send();
  return saved;
}

test("entries that are added before they are sent share one append, and all of them its end", async (t) => {
  const { writer, journal, faults, appends } = await stage(t);
  const saved = [writer.add(next(2)), writer.add(next(3, 4))];
  assert.deepEqual(appends, [], "nothing is sent before it is asked for");
  writer.send();
  writer.send();
  await Promise.all(saved);
  assert.deepEqual(appends, [[2, 3, 4]]);
  assert.deepEqual(await kept(journal), [2, 3, 4]);
  faults.push({ code: "LEASE_LOST" });
  const refused = [writer.add(next(5)), writer.add(next(6))].map((one) => assert.rejects(one, { code: "LEASE_LOST" }));
  writer.send();
  await Promise.all(refused);
});

test("entries that were not sent are sent at the end of the turn, and by the release of the lease", async (t) => {
  const { writer, appends } = await stage(t);
  await writer.add(next(2));
  assert.deepEqual(appends, [[2]]);
  const saved = writer.add(next(3));
  const released = writer.release();
  assert.deepEqual(appends, [[2], [3]], "it was sent before the release");
  await Promise.allSettled([saved, released]);
});

test("entries are durable when the append resolves, in order", async (t) => {
  const { writer, journal } = await stage(t);
  await Promise.all([saveNow(writer, next(2)), saveNow(writer, next(3, 4))]);
  assert.deepEqual(await kept(journal), [2, 3, 4]);
  assert.equal(writer.takeWait(), undefined);
});

test("a busy store is tried again, later each time, and the wait is told once it is over", async (t) => {
  const { writer, journal, faults, appends } = await stage(t);
  faults.push({ code: "STORE_BUSY" }, { code: "STORAGE_FULL" }, { code: "STORE_FAILED" });
  let isDone = false;
  const done = saveNow(writer, next(2)).then(() => (isDone = true));
  await pass(STORE_LIMITS.backoffMs - 1);
  assert.equal(appends.length, 1);
  assert.equal(writer.trouble?.code, "STORE_BUSY");
  await pass(1);
  assert.equal(appends.length, 2);
  assert.equal(writer.takeWait(), undefined, "it still waits");
  await pass(2 * STORE_LIMITS.backoffMs);
  assert.deepEqual([appends.length, isDone, writer.trouble?.code], [3, false, "STORE_FAILED"]);
  await pass(4 * STORE_LIMITS.backoffMs);
  await done;
  assert.deepEqual(await kept(journal), [2]);
  assert.equal(writer.trouble, undefined);
  const wait = writer.takeWait();
  assert.deepEqual([wait?.healing, wait?.attempt, wait?.metadata?.["code"]], ["wait_for_store", 3, "STORE_BUSY"]);
  assert.equal(writer.takeWait(), undefined);
});

test("entries that come while the store fails join the next attempt, and none is written twice", async (t) => {
  const { writer, journal, faults, appends } = await stage(t);
  faults.push({ code: "STORE_BUSY" });
  const first = saveNow(writer, next(2));
  await pass(0);
  const second = saveNow(writer, next(3));
  await pass(STORE_LIMITS.backoffMs);
  await Promise.all([first, second]);
  assert.deepEqual(appends, [[2], [2, 3]]);
  assert.deepEqual(await kept(journal), [2, 3]);
});

test("appends that were queued behind one that failed are saved by its retry", async (t) => {
  const { writer, journal, faults, appends } = await stage(t);
  faults.push({ code: "STORE_BUSY" }, { code: "STORE_BUSY" }, { code: "STORE_BUSY" });
  const all = [saveNow(writer, next(2)), saveNow(writer, next(3)), saveNow(writer, next(4))];
  await pass(STORE_LIMITS.backoffMs);
  await Promise.all(all);
  assert.deepEqual(await kept(journal), [2, 3, 4]);
  assert.deepEqual(appends, [[2], [3], [4], [2, 3, 4]], "one retry serves all");
});

test("a commit whose outcome is unknown is repeated, and what was on disk is there once", async (t) => {
  const { writer, journal, faults } = await stage(t);
  faults.push({ code: "COMMIT_UNKNOWN", isDone: true });
  const done = saveNow(writer, next(2));
  await pass(STORE_LIMITS.backoffMs);
  await done;
  assert.deepEqual(await kept(journal), [2]);
});

test("a refusal for good rejects at once with its fault", async (t) => {
  const { writer, faults, appends } = await stage(t);
  faults.push({ code: "LEASE_LOST" });
  await assert.rejects(saveNow(writer, next(2)), { code: "LEASE_LOST" });
  assert.equal(appends.length, 1);
});

test("a refusal for good during retries rejects every append that waits", async (t) => {
  const { writer, faults } = await stage(t);
  faults.push({ code: "STORE_BUSY" }, { code: "LEASE_LOST" });
  const first = saveNow(writer, next(2));
  await pass(0);
  const second = saveNow(writer, next(3));
  const both = Promise.allSettled([first, second]);
  await pass(STORE_LIMITS.backoffMs);
  assert.deepEqual(
    (await both).map((result) => result.status === "rejected" && (result.reason as Fault).code),
    ["LEASE_LOST", "LEASE_LOST"],
  );
});

test("stopping ends the retries with the store's last fault, also when it comes first", async (t) => {
  const { writer, faults, appends } = await stage(t);
  faults.push({ code: "STORAGE_FULL" }, { code: "STORAGE_FULL" });
  const failed = assert.rejects(saveNow(writer, next(2)), { code: "STORAGE_FULL" });
  await pass(0);
  writer.stop();
  await failed;
  await assert.rejects(saveNow(writer, next(2)), { code: "STORAGE_FULL" });
  assert.equal(appends.length, 2, "no attempt after the stop but the first of each append");
});

test("the lease is renewed in time, and its loss is told once the store says so", async (t) => {
  const { writer, journal, lease } = await stage(t);
  const lost: string[] = [];
  writer.hold(({ code }) => lost.push(code));
  await pass(RUN_LIMITS.leaseMs / 3);
  assert.deepEqual(lost, []);
  await journal.release(lease);
  await journal.lease("r1", { host: "other", boot: "b", pid: 1, started: "1" });
  await pass(RUN_LIMITS.leaseMs / 3);
  assert.deepEqual(lost, ["LEASE_LOST"]);
  await writer.release();
  await pass(RUN_LIMITS.leaseMs);
  assert.deepEqual(lost, ["LEASE_LOST"], "after the release nothing is renewed");
});

test("a store that cannot be written says nothing about the lease, and does not keep it from being given up", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  t.after(() => mock.timers.reset());
  const busy = (): Promise<void> => Promise.reject(new Fault("STORE_BUSY"));
  const writer = new JournalWriter({ append: busy, renew: busy, release: busy }, { run: "r1", epoch: 1 });
  const lost: Fault[] = [];
  writer.hold((fault) => lost.push(fault));
  await pass(RUN_LIMITS.leaseMs);
  assert.deepEqual(lost, []);
  await writer.release();
  const broken = new JournalWriter(
    { append: busy, renew: busy, release: () => Promise.reject(new Fault("JOURNAL_CORRUPT")) },
    { run: "r1", epoch: 1 },
  );
  await assert.rejects(broken.release(), { code: "JOURNAL_CORRUPT" });
});

test("an empty append is no entry and no failure", async (t) => {
  const { writer, journal } = await stage(t);
  await saveNow(writer, []);
  assert.deepEqual(await kept(journal), []);
});
