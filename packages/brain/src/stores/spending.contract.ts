import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { NO_SPENDING } from "@vidro/core";
import type { Entry, Event, Lease, Usage } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { folder, rejects, startedEvent } from "./journal.fixture.ts";
import type { OpenStore } from "./stores.ts";
import type { Store } from "./store.ts";

const MIDNIGHT = Date.UTC(2026, 10, 18);
const USAGE: Usage = { inputTokens: 100, outputTokens: 20, cachedTokens: 40, thinkingTokens: 5, costUsd: 0.25 };
const ONE_REPLY = { ...NO_SPENDING, ...USAGE, steps: 1 };

function replied(usage: Usage): Event {
  return { type: "model.replied", model: "m", text: `${"long ".repeat(1000)}"`, usage };
}

/** Makes a run whose opening calls the model, and the entries that follow it. */
async function beginAt({ journal }: Store, run: { id: string; owner: string; thread: string }, at: number) {
  const called: Event = { type: "model.called", step: 1, attempt: 1 };
  const opening = [startedEvent("do it"), called].map((event, index) => ({ seq: index + 1, at, event }));
  const { lease } = await journal.create(run, opening, thisHolder());
  assert.ok(lease);
  return lease;
}

function entryAt(seq: number, at: number, event: Event): Entry {
  return { seq, at, event };
}

/** What every store keeps of the sums of what models used. */
export function spendingContract(name: string, open: OpenStore): void {
  const on = (title: string, body: (store: Store) => Promise<void>): void =>
    void test(title, async () => {
      using place = folder();
      const store = await open(join(place.path, "store"), { now: () => 1000 });
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  void describe(`${name}: spending`, () => {
    on("replies are summed up by their day in UTC and by thread, of all owners and of one", async (store) => {
      const { journal, spending } = store;
      const run = (id: string, owner: string, thread: string) => ({ id, owner, thread });
      const one = await beginAt(store, run("a", "ana", "t"), MIDNIGHT - 2);
      await journal.append(one, [entryAt(3, MIDNIGHT - 1, replied(USAGE)), entryAt(4, MIDNIGHT, replied(USAGE))]);
      const other = await beginAt(store, run("b", "bob", "t"), MIDNIGHT + 1);
      const unpriced = { inputTokens: 7, outputTokens: 1, unpricedTokens: 8 };
      const compacted: Event = { type: "context.compacted", dropped: 1, digest: "d", usage: unpriced };
      await journal.append(other, [entryAt(3, MIDNIGHT + 2, compacted)]);
      assert.deepEqual(await spending.sum("day", "2026-11-17"), { ...ONE_REPLY, runs: 1 });
      const today = { ...ONE_REPLY, runs: 1, inputTokens: 107, outputTokens: 21, unpricedTokens: 8 };
      assert.deepEqual(await spending.sum("day", "2026-11-18"), today);
      const thread = await spending.sum("thread", "t");
      assert.deepEqual([thread.runs, thread.steps, thread.inputTokens, thread.costUsd], [2, 2, 207, 0.5]);
      assert.deepEqual(await spending.sum("day", "2026-11-19"), NO_SPENDING);
      const days = await spending.list("day", { since: 0, limit: 2 });
      assert.deepEqual(
        days.map(({ key, owner, updatedAt }) => [key, owner, updatedAt]),
        [
          ["2026-11-18", "bob", MIDNIGHT + 2],
          ["2026-11-18", "ana", MIDNIGHT],
        ],
      );
      const own = await spending.list("thread", { owner: "ana", since: MIDNIGHT, limit: 9 });
      assert.deepEqual(own, [
        {
          ...thread,
          runs: 1,
          inputTokens: 200,
          outputTokens: 40,
          unpricedTokens: 0,
          key: "t",
          owner: "ana",
          updatedAt: MIDNIGHT,
        },
      ]);
      assert.deepEqual(await spending.list("thread", { since: MIDNIGHT + 3, limit: 9 }), []);
    });

    on("an append that is repeated is counted once, and one that is refused not at all", async (store) => {
      const { journal, spending } = store;
      const lease = await beginAt(store, { id: "a", owner: "ana", thread: "t" }, MIDNIGHT);
      const reply = entryAt(3, MIDNIGHT, replied(USAGE));
      await journal.append(lease, [reply]);
      await journal.append(lease, [reply]);
      const stale: Lease = { ...lease, epoch: lease.epoch + 1 };
      await rejects(journal.append(stale, [entryAt(4, MIDNIGHT, replied(USAGE))]), "LEASE_LOST");
      await rejects(journal.append(lease, [entryAt(9, MIDNIGHT, replied(USAGE))]), "CONFLICT");
      assert.deepEqual(await spending.sum("thread", "t"), { ...ONE_REPLY, runs: 1 });
    });

    on("appends of many runs at once are all counted", async (store) => {
      const { journal, spending } = store;
      const runs = Array.from({ length: 20 }, (_, index) => ({
        id: `r${index}`,
        owner: "ana",
        thread: `t${index % 3}`,
      }));
      const leases = await Promise.all(runs.map((run) => beginAt(store, run, MIDNIGHT)));
      await Promise.all(leases.map((lease) => journal.append(lease, [entryAt(3, MIDNIGHT, replied(USAGE))])));
      const { runs: counted, steps, costUsd } = await spending.sum("day", "2026-11-18");
      assert.deepEqual([counted, steps, costUsd], [20, 20, 5]);
      assert.equal((await spending.sum("thread", "t0")).steps, 7);
    });
  });
}

/** Sums of a store before and after `older` made it one of the version that had none. */
export async function spendingAfterMigration(open: () => Promise<Store>, older: () => Promise<unknown>) {
  const store = await open();
  const one = await beginAt(store, { id: "a", owner: "ana", thread: "t" }, MIDNIGHT - 1);
  await store.journal.append(one, [entryAt(3, MIDNIGHT - 1, replied(USAGE)), entryAt(4, MIDNIGHT, replied(USAGE))]);
  const two = await beginAt(store, { id: "b", owner: "bob", thread: "u" }, MIDNIGHT);
  const compacted: Event = { type: "context.compacted", dropped: 1, digest: "\0", usage: USAGE };
  await store.journal.append(two, [entryAt(3, MIDNIGHT, compacted)]);
  const rowsOf = async ({ spending }: Store) => [
    ...(await spending.list("day", { since: 0, limit: 9 })),
    ...(await spending.list("thread", { since: 0, limit: 9 })),
  ];
  const before = await rowsOf(store);
  await store.close();
  await older();
  const again = await open();
  const after = await rowsOf(again);
  await again.close();
  return { before, after };
}

/** What a store that deletes runs keeps of their sums. */
export function prunedSpendingContract(name: string, open: OpenStore): void {
  void test(`${name}: a deleted run changes no day; a thread is forgotten with its last run`, async () => {
    using place = folder();
    const store = await open(join(place.path, "store"), { now: () => 1000 });
    const { journal, spending, retention } = store;
    for (const id of ["a", "b", "c"]) {
      const lease = await beginAt(store, { id, owner: "ana", thread: id === "c" ? "other" : "t" }, MIDNIGHT);
      const ended: Event = { type: "run.finished", result: "done" };
      await journal.append(lease, [entryAt(3, MIDNIGHT, replied(USAGE)), entryAt(4, MIDNIGHT, ended)]);
    }
    const day = await spending.sum("day", "2026-11-18");
    assert.equal(await retention?.prune(["a"]), 1);
    assert.equal((await spending.sum("thread", "t")).steps, 2);
    assert.equal(await retention?.prune(["b"]), 1);
    assert.deepEqual(await spending.sum("thread", "t"), NO_SPENDING);
    assert.deepEqual(await spending.sum("day", "2026-11-18"), day);
    assert.equal(day.steps, 3);
    await store.close();
  });
}
