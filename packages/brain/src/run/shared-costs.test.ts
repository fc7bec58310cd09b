import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, NO_SPENDING } from "@vidro/core";
import { runBudget } from "./run-budget.ts";
import { whenReadable } from "./call-model.ts";
import { sharedCostsIn } from "./shared-costs.ts";

const NOON = Date.UTC(2026, 10, 18, 12);
const spending = {
  sum: async (by: "day" | "thread", key: string) => ({ ...NO_SPENDING, costUsd: by === "day" ? 7 : key.length }),
};

test("the lower bound of a conversation counts; a model that costs nothing has none", async () => {
  const read = sharedCostsIn(spending, { threadUsd: 5, dayUsd: 9 }, () => NOON);
  const run = (threadCostUsd?: number) => ({
    thread: "abc",
    budget: runBudget(threadCostUsd === undefined ? {} : { threadCostUsd }),
  });
  const day = { of: "day", limitUsd: 9, costUsd: 7 };
  assert.deepEqual(await read(run(), {}), [{ of: "thread", limitUsd: 5, costUsd: 3 }, day]);
  assert.deepEqual(await read(run(2), {}), [{ of: "thread", limitUsd: 2, costUsd: 3 }, day]);
  assert.deepEqual(await read(run(8), {}), [{ of: "thread", limitUsd: 5, costUsd: 3 }, day]);
  assert.deepEqual(await read(run(2), { isFree: true }), []);
  const unbounded = sharedCostsIn(spending, {}, () => NOON);
  assert.deepEqual(await unbounded(run(), {}), []);
  assert.deepEqual(await unbounded(run(2), {}), [{ of: "thread", limitUsd: 2, costUsd: 3 }]);
});

test("a store that cannot be read now is read again, until the run is aborted", async () => {
  let reads = 0;
  const busy = async () => {
    reads += 1;
    if (reads < 3) throw new Fault("STORE_BUSY");
    return [];
  };
  const { signal } = new AbortController();
  assert.deepEqual(await whenReadable(busy, async () => undefined, signal), []);
  assert.equal(reads, 3);
  const broken = async () => Promise.reject(new Fault("STORE_UNREADABLE"));
  await assert.rejects(
    whenReadable(broken, async () => undefined, signal),
    { code: "STORE_UNREADABLE" },
  );
  const halt = new AbortController();
  const never = async () => Promise.reject(new Fault("STORE_BUSY"));
  assert.deepEqual(await whenReadable(never, async () => halt.abort(), halt.signal), []);
});
