import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { thisHolder } from "../lease-holder.ts";
import { linkHash } from "../hash-chain.ts";
import { entries, entry, folder } from "../journal.fixture.ts";
import { openDatabase } from "./open.ts";
import { MIGRATIONS } from "./schema.ts";
import { spendingAfterMigration } from "../spending.contract.ts";
import { sqliteStore } from "../sqlite.ts";

/** Makes a store of version 1 with a run that has a key, one that has none, and three entries each. */
function makeVersion1(path: string): void {
  const database = openDatabase(path, MIGRATIONS.slice(0, 1));
  for (const [number, id, key] of [
    [1, "a", "k"],
    [2, "b", null],
  ] as const) {
    database
      .prepare("INSERT INTO run VALUES (?, ?, 't', ?, 'do it', 'running', 1001, 3, NULL, 0)")
      .run(number, id, key);
    let hash = "";
    for (const { seq, at, event } of entries(1, 3)) {
      const body = JSON.stringify(event);
      hash = linkHash(id, hash, { seq, at, body });
      database.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, unhex(?))").run(number, seq, at, body, hash);
    }
  }
  database.close();
}

void test("a store of version 1 keeps its runs, keys and entries, which belong to the person at this machine", async () => {
  using place = folder();
  const path = join(place.path, "store");
  makeVersion1(path);
  const { journal, records } = await sqliteStore(path);
  const heads = await journal.list({ owner: "local", limit: 10 });
  assert.deepEqual(
    heads.map((head) => ({ ...head })),
    ["b", "a"].map((id) => ({
      id,
      owner: "local",
      thread: "t",
      task: "do it",
      status: "running",
      seq: 3,
      startedAt: 1001,
      updatedAt: 1003,
    })),
  );
  assert.deepEqual(await journal.read("a", 0, 10), entries(1, 3));
  assert.deepEqual(await journal.verify("b"), { entries: 3 });
  const again = { owner: "local", thread: "t", key: "k" };
  assert.equal((await journal.create({ id: "c", ...again }, [entry(1)], thisHolder())).head.id, "a");
  const foreign = await journal.create({ id: "d", ...again, owner: "you" }, [entry(1)], thisHolder());
  assert.equal(foreign.head.id, "d");
  const lease = await journal.lease("a", thisHolder());
  assert.equal(lease.epoch, 4);
  await journal.append(lease, [entry(4)]);
  assert.deepEqual(await journal.verify("a"), { entries: 4 });
  await records.put({ kind: "thing", id: "a", owner: "me", body: {} });
  await journal.close();
});

void test("a store from before there were sums of what models used begins with what its journals tell", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const older = async (): Promise<void> => {
    using database = new DatabaseSync(path);
    database.exec(
      "DROP INDEX run_sole; ALTER TABLE run DROP COLUMN sole; DROP TABLE spending; PRAGMA user_version = 5",
    );
  };
  const { before, after } = await spendingAfterMigration(() => sqliteStore(path), older);
  assert.equal(before.length, 5);
  assert.deepEqual(after, before);
});
