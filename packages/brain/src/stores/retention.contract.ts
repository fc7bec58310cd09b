import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Entry } from "@vidro/core";
import { begin, entry, folder } from "./journal.fixture.ts";
import type { OpenStore } from "./stores.ts";
import type { Store } from "./store.ts";

/** A text that a store keeps once. */
const LARGE = "x".repeat(5000);

/** Makes a run that ended at a time, with a large text that others may have too. */
async function endedAt({ journal }: Store, id: string, at: number): Promise<void> {
  const lease = await begin(journal, id);
  const last: Entry[] = [
    { seq: 2, at, event: { type: "note.observed", note: LARGE } },
    { seq: 3, at, event: { type: "run.aborted", reason: "done" } },
  ];
  await journal.append(lease, last);
}

/** What every store with retention keeps of its port. */
export function retentionContract(name: string, open: OpenStore): void {
  const on = (title: string, body: (store: Store & Required<Pick<Store, "retention">>) => Promise<void>): void =>
    void test(title, async () => {
      using place = folder();
      const store = await open(join(place.path, "store"), { now: () => 1000 });
      const { retention } = store;
      assert.ok(retention);
      try {
        await body({ ...store, retention });
      } finally {
        await store.close();
      }
    });
  void describe(`${name}: retention`, () => {
    on("ended runs are due by the time of their last entry, oldest first; open ones never are", async (store) => {
      await endedAt(store, "a", 2000);
      await begin(store.journal, "open");
      await endedAt(store, "b", 3000);
      await endedAt(store, "c", 9000);
      const { retention } = store;
      assert.deepEqual(await retention.due(5000, 10), ["a", "b"]);
      assert.deepEqual(await retention.due(5000, 1), ["a"]);
      assert.deepEqual(await retention.due(2000, 10), []);
    });

    on("a pruned run is gone, and the others keep what they shared with it", async (store) => {
      await endedAt(store, "a", 2000);
      await endedAt(store, "b", 2000);
      const { journal, retention } = store;
      assert.equal(await retention.prune(["a", "a", "missing"]), 1);
      assert.equal(await journal.head("a"), undefined);
      assert.deepEqual(
        (await journal.list({ limit: 10 })).map(({ id }) => id),
        ["b"],
      );
      assert.deepEqual(await journal.verify("b"), { entries: 3 });
      assert.deepEqual((await journal.read("b", 1, 1))[0]?.event, { type: "note.observed", note: LARGE });
    });

    on("an open run is not pruned", async (store) => {
      const lease = await begin(store.journal, "open");
      await endedAt(store, "z", 2000);
      assert.equal(await store.retention.prune(["open"]), 0);
      await store.journal.append(lease, [entry(2)]);
    });
  });
}
