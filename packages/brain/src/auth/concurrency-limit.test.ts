import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

const OPTIONS = { atOnce: 2, waiting: 3, retryAfterMs: 50 };

/** Work that the test ends by hand. */
function held(): { readonly work: () => Promise<string>; readonly end: () => void; readonly fail: () => void } {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => resolve("done"), fail: () => reject(new Error("broken")) };
}

/** Lets everything go on that waits for settled promises. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test("no more work runs at a time than allowed, and the others take their turns in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { maxLength: 20 }),
      async (atOnce, fails) => {
        const limit = new ConcurrencyLimit({ ...OPTIONS, atOnce, waiting: 20 });
        let [running, most] = [0, 0];
        const begun: number[] = [];
        const all = fails.map((isFailing, index) =>
          limit
            .run(async () => {
              running += 1;
              most = Math.max(most, running);
              begun.push(index);
              await settle();
              running -= 1;
              if (isFailing) throw new Error("broken");
            })
            .catch(() => undefined),
        );
        await Promise.all(all);
        assert.deepEqual(
          begun,
          fails.map((_, index) => index),
        );
        assert.equal(most, Math.min(atOnce, fails.length));
        assert.equal(running, 0);
      },
    ),
    { numRuns: 50 },
  );
});

test("after all work is done as much runs at a time as before, and no more", async () => {
  const limit = new ConcurrencyLimit(OPTIONS);
  for (let round = 0; round < 3; round++) {
    const works = Array.from({ length: 4 }, held);
    let begun = 0;
    const all = works.map(({ work }) =>
      limit.run(() => {
        begun += 1;
        return work();
      }),
    );
    await settle();
    assert.equal(begun, OPTIONS.atOnce, `round ${round}`);
    for (const { end } of works) end();
    await Promise.all(all);
  }
});

test("who finds no place to wait is refused at once, and told when to come again", async () => {
  const limit = new ConcurrencyLimit(OPTIONS);
  const works = Array.from({ length: 5 }, held);
  const all = works.map(({ work }) => limit.run(work));
  await assert.rejects(
    limit.run(async () => assert.fail("it must not run")),
    { code: "RATE_LIMITED", retryAfterMs: 50 },
  );
  works[0]?.end();
  await all[0];
  const late = held();
  const admitted = limit.run(late.work);
  for (const { end } of [...works, late]) end();
  assert.deepEqual(
    await Promise.all([...all, admitted]),
    Array.from({ length: 6 }, () => "done"),
  );
});

test("work that fails gives its place on", async () => {
  const limit = new ConcurrencyLimit({ ...OPTIONS, atOnce: 1 });
  const [first, second] = [held(), held()];
  const [one, other] = [limit.run(first.work), limit.run(second.work)];
  first.fail();
  await assert.rejects(one, /broken/);
  second.end();
  assert.equal(await other, "done");
  assert.equal(await limit.run(async () => "again"), "again");
});

test("work that throws before its first await gives its place on, too", async () => {
  const limit = new ConcurrencyLimit({ ...OPTIONS, atOnce: 1 });
  const thrower = (): Promise<void> => {
    throw new Error("at once");
  };
  for (let times = 0; times < 5; times++) await assert.rejects(limit.run(thrower), /at once/);
  assert.equal(await limit.run(async () => "goes on"), "goes on");
});

test("a newcomer does not overtake one that waits when a place becomes free", async () => {
  const limit = new ConcurrencyLimit({ ...OPTIONS, atOnce: 1 });
  const order: string[] = [];
  const first = held();
  const one = limit.run(first.work);
  const waiting = limit.run(async () => void order.push("waiting"));
  first.end();
  await one;
  const newcomer = limit.run(async () => void order.push("newcomer"));
  await Promise.all([waiting, newcomer]);
  assert.deepEqual(order, ["waiting", "newcomer"]);
});
