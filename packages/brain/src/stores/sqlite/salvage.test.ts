import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { RunHead } from "@vidro/core";
import { fillStore, garble, leavesOf } from "../damage.fixture.ts";
import { folder } from "../journal.fixture.ts";
import { Damage } from "../damage.ts";
import { sqliteStore } from "../sqlite.ts";
import { openDatabase } from "./open.ts";
import { Salvage } from "./salvage.ts";
import { MIGRATIONS } from "./schema.ts";

const RUNS = 300;

/** A store with a page of a table that went bad, opened as a daemon opens it. */
async function damagedStore(t: TestContext, table: string) {
  const place = folder();
  t.after(() => place[Symbol.dispose]());
  const path = join(place.path, "journal");
  const ids = await fillStore(path, RUNS);
  const leaves = leavesOf(path, table);
  garble(path, leaves[Math.floor(leaves.length / 2)] ?? 0);
  return { path, ids };
}

/** The salvage of a store, below everything that a journal does with it. */
function salvageOf(t: TestContext, path: string): { readonly salvage: Salvage; readonly damage: Damage } {
  const database = openDatabase(path, MIGRATIONS);
  t.after(() => database.close());
  const damage = new Damage();
  return { salvage: new Salvage(database, damage), damage };
}

const idsOf = (heads: readonly RunHead[]): readonly string[] => heads.map(({ id }) => id);

for (const table of ["run", "entry"]) {
  void test(`a run is found by the end of its id, and no other one, although a page of ${table} is damaged`, async (t) => {
    const { path, ids } = await damagedStore(t, table);
    const store = await sqliteStore(path);
    const { journal } = store;
    t.after(() => store.close());
    for (const id of [ids[0]!, ids[RUNS / 2]!, ids[RUNS - 1]!])
      assert.deepEqual(idsOf(await journal.list({ ending: id.slice(-6), limit: 10 })), [id]);
    assert.deepEqual(await journal.list({ ending: "no such run", limit: 10 }), []);
  });
}

void test("runs whose row is lost are listed last and by their id, and only where nothing else is asked for", async (t) => {
  const { path, ids } = await damagedStore(t, "run");
  const { salvage, damage } = salvageOf(t, path);
  const all = salvage.list({ limit: RUNS * 2 });
  assert.deepEqual(idsOf(all).toSorted(), ids);
  const lost = all.filter(({ damaged }) => damaged !== undefined);
  assert.ok(lost.length > 0 && lost.length < RUNS, `${lost.length} are lost`);
  assert.deepEqual(all.slice(-lost.length), lost);
  for (const head of lost) assert.deepEqual([head.owner, head.task, head.status, head.seq], ["", "", "failed", 0]);
  assert.deepEqual(
    damage
      .list()
      .map(({ run }) => run)
      .toSorted(),
    idsOf(lost).toSorted(),
  );
  const sound = idsOf(all).filter((id) => !idsOf(lost).includes(id));
  assert.deepEqual(idsOf(salvage.list({ owner: "local", limit: RUNS * 2 })), sound);
  assert.deepEqual(idsOf(salvage.list({ open: false, limit: RUNS * 2 })), sound);
  assert.deepEqual(salvage.list({ open: true, limit: RUNS * 2 }), []);
  assert.deepEqual(salvage.list({ owner: "other", limit: RUNS * 2 }), []);
});

void test("a list is bounded also where runs are lost, and goes on behind the run that it is told", async (t) => {
  const { path, ids } = await damagedStore(t, "run");
  const { salvage } = salvageOf(t, path);
  assert.equal(salvage.list({ limit: 7 }).length, 7);
  const first = salvage.list({ owner: "local", limit: 20 });
  const more = salvage.list({ owner: "local", limit: 20, after: first.at(-1)!.id });
  assert.equal(new Set([...idsOf(first), ...idsOf(more)]).size, 40);
  assert.ok(more.every(({ id }) => id < first.at(-1)!.id));
  assert.deepEqual(salvage.list({ limit: 5, after: ids[0]! }), []);
  assert.throws(() => salvage.list({ limit: 5, after: "run_unknown" }), { code: "NOT_FOUND" });
});

void test("a run whose entries are lost keeps its row and is marked, once, with the first reason", async (t) => {
  const { path, ids } = await damagedStore(t, "entry");
  const { salvage, damage } = salvageOf(t, path);
  const marked = salvage.list({ limit: RUNS * 2 }).filter(({ damaged }) => damaged !== undefined);
  assert.ok(marked.length > 0 && marked.length < RUNS);
  for (const { id, task, owner, seq, updatedAt, startedAt, status } of marked) {
    assert.ok(ids.includes(id));
    assert.deepEqual([task, owner, seq, status], [`do ${id}`, "local", 0, "finished"]);
    assert.equal(updatedAt, startedAt);
  }
  salvage.list({ limit: RUNS * 2 });
  assert.equal(damage.list().length, marked.length);
});
