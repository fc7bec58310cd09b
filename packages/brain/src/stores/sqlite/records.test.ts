import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { begin, commitsIn, entry, folder, neighbour, rejects } from "../journal.fixture.ts";
import { sqliteStore } from "../sqlite.ts";

const KILLS = 10;

void test("what put resolved is there after kill -9 at any time, and the next process goes on", async () => {
  using place = folder();
  const path = join(place.path, "store");
  for (let kill = 0; kill < KILLS; kill += 1) {
    const other = await neighbour("recorder.fixture.ts", path, "a");
    let told = 0;
    for (let lines = 0; lines <= (kill * 7) % 13; lines += 1) told = Number((await other.lines.next()).value);
    await other.end();
    // What it said just before it died was acknowledged too.
    for (let line = await other.lines.next(); line.done !== true; line = await other.lines.next())
      told = Number(line.value);
    const store = await sqliteStore(path);
    const found = await store.records.get("count", "a");
    assert.ok((found?.version ?? 0) >= told, `${told} was acknowledged, ${found?.version} is there`);
    assert.deepEqual(found?.body, { counted: found?.version });
    await store.close();
  }
});

void test("a change by another process wakes the watchers of its kind and no others", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const { journal, records } = await sqliteStore(path);
  let disturbed = 0;
  records.watch("other", () => (disturbed += 1));
  const woken = new Promise<void>((resolve) => records.watch("count", resolve));
  const other = await neighbour("recorder.fixture.ts", path, "a");
  await woken;
  assert.ok(await records.get("count", "a"));
  assert.equal(disturbed, 0);
  await other.end();
  await journal.close();
});

void test("two processes that change one record never lose a change", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const [ours, theirs] = [await sqliteStore(path), await sqliteStore(path)];
  let won = 0;
  for (let round = 0; round < 20; round += 1) {
    const version = (await ours.records.get("thing", "a"))?.version ?? 0;
    const tries = [ours, theirs].map(({ records }) =>
      records.put({ kind: "thing", id: "a", owner: "me", body: {} }, version),
    );
    won += (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled").length;
  }
  assert.equal(won, 20);
  assert.equal((await theirs.records.get("thing", "a"))?.version, 20);
  await ours.close();
  await theirs.close();
});

void test("records and entries of one turn share one commit, and closing either closes both", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const { journal, records } = await sqliteStore(path);
  const lease = await begin(journal, "a");
  const before = commitsIn(`${path}-wal`);
  const kept = { kind: "thing", id: "a", owner: "me", body: {} };
  const conflict = { ...kept, id: "b" };
  await Promise.all([
    records.put(kept),
    journal.append(lease, [entry(2)]),
    rejects(records.put(conflict, 9), "CONFLICT"),
  ]);
  assert.equal(commitsIn(`${path}-wal`) - before, 1);
  assert.equal((await journal.head("a"))?.seq, 2);
  await journal.close();
  await rejects(records.get("thing", "a"), "STORE_UNREADABLE");
  await rejects(records.put(kept), "STORE_UNREADABLE");
});
