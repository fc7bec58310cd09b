import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { addSpending, DAY_MS, NO_SPENDING, spendingIn } from "@vidro/core";
import type { Entry, Event, SpendingRow, UsageTotal } from "@vidro/core";
import { folder, rejects, startedEvent } from "../journal.fixture.ts";
import { thisHolder } from "../lease-holder.ts";
import { sqliteStore } from "../sqlite.ts";
import { SqliteConnection } from "./connection.ts";
import { openDatabase } from "./open.ts";
import { SqliteSpending } from "./spending.ts";

const NOON = Date.UTC(2026, 10, 18, 12);
const ANA = { owner: "ana", thread: "t" };

function replyAt(at: number, inputTokens: number): Entry {
  return {
    seq: 3,
    at,
    event: { type: "model.replied", model: "m", text: "", usage: { inputTokens, outputTokens: 1 } },
  };
}

/** Sums of a new store; `counted` does so in a transaction of its own, or in that of its turn. */
function newSums(path: string) {
  const connection = new SqliteConnection(openDatabase(join(path, "store")), path);
  const spending = new SqliteSpending(connection);
  const counted = (run: typeof ANA, entries: readonly Entry[]): Promise<void> =>
    connection.write(() => spending.count(run, entries));
  return { connection, spending, counted };
}

const amounts = fc.record({
  owner: fc.constantFrom("a", "b c", "b"),
  thread: fc.constantFrom("t", "c t", "t 1"),
  day: fc.integer({ min: -2, max: 2 }),
  inputTokens: fc.integer({ min: 0, max: 1000 }),
});

void test("whichever replies share a commit, each row of the sums is what its replies add up to, with the last time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(amounts, { maxLength: 12 }), { maxLength: 4 }), async (commits) => {
      using place = folder();
      const { connection, spending, counted } = newSums(place.path);
      const expected = new Map<string, UsageTotal & { readonly updatedAt: number }>();
      for (const commit of commits) {
        const work = commit.map(({ owner, thread, day, inputTokens }) => {
          const entry = replyAt(NOON + day * DAY_MS, inputTokens);
          const name = new Date(entry.at).toISOString().slice(0, 10);
          for (const row of [JSON.stringify(["day", name, owner]), JSON.stringify(["thread", thread, owner])]) {
            const known = expected.get(row);
            const sum = addSpending(known ?? NO_SPENDING, spendingIn(entry.event) ?? NO_SPENDING);
            expected.set(row, { ...sum, updatedAt: Math.max(known?.updatedAt ?? 0, entry.at) });
          }
          return counted({ owner, thread }, [entry]);
        });
        await Promise.all(work);
      }
      const listed = async (kind: "day" | "thread") =>
        (await spending.sums.list(kind, { since: 0, limit: 100 })).map(
          ({ key, owner, ...sum }: SpendingRow) => [JSON.stringify([kind, key, owner]), sum] as const,
        );
      assert.deepEqual(new Map([...(await listed("day")), ...(await listed("thread"))]), expected);
      await connection.close();
    }),
    { numRuns: 25 },
  );
});

void test("what a commit counted before it was rolled back is not added, neither by its repetition nor by the next one", async () => {
  using place = folder();
  const { connection, spending, counted } = newSums(place.path);
  const failing = connection.write(() => {
    spending.count(ANA, [replyAt(NOON, 1000)]);
    // No Fault, so the work may have written a part, and the transaction is rolled back.
    throw new Error("a bug");
  });
  // Both share the commit of the one that fails, before and after it.
  await Promise.all([
    counted(ANA, [replyAt(NOON, 1)]),
    rejects(failing, "STORE_UNREADABLE"),
    counted(ANA, [replyAt(NOON, 10)]),
  ]);
  assert.equal((await spending.sums.sum("thread", "t")).inputTokens, 11);
  await counted(ANA, [replyAt(NOON, 100)]);
  assert.equal((await spending.sums.sum("thread", "t")).inputTokens, 111);
  assert.equal((await spending.sums.sum("day", "2026-11-18")).steps, 3);
  await connection.close();
});

void test("a run that is deleted in the commit of its last reply leaves no sum of its thread", async () => {
  using place = folder();
  const { journal, spending, retention } = await sqliteStore(join(place.path, "store"));
  const opening: Event[] = [startedEvent("do it"), { type: "model.called", step: 1, attempt: 1 }];
  const begin = async (id: string, thread: string) => {
    const entries = opening.map((event, index) => ({ seq: index + 1, at: NOON, event }));
    const { lease } = await journal.create({ id, owner: "ana", thread }, entries, thisHolder());
    assert.ok(lease);
    return lease;
  };
  const [old, kept] = [await begin("old", "t"), await begin("kept", "u")];
  const ended: Event = { type: "run.finished", result: "done" };
  const [, , pruned] = await Promise.all([
    journal.append(old, [replyAt(NOON, 5), { seq: 4, at: NOON, event: ended }]),
    journal.append(kept, [replyAt(NOON, 7)]),
    retention?.prune(["old"]),
  ]);
  assert.equal(pruned, 1);
  assert.deepEqual(await spending.sum("thread", "t"), NO_SPENDING);
  assert.equal((await spending.sum("thread", "u")).inputTokens, 7);
  assert.equal((await spending.sum("day", "2026-11-18")).inputTokens, 12);
  await journal.close();
});
