import assert from "node:assert/strict";
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { thisHolder } from "../lease-holder.ts";
import { begin, entries, folder } from "../journal.fixture.ts";
import { sqliteStore } from "../sqlite.ts";
import type { SqliteOptions } from "../sqlite.ts";
import { openDatabase } from "./open.ts";
import { MIGRATIONS } from "./schema.ts";

const NOW = 1_800_000_000_000;

/** The incarnation of the store at a path, which is closed again. */
async function incarnationAt(path: string, options: SqliteOptions = {}) {
  const store = await sqliteStore(path, { now: () => NOW, ...options });
  await store.close();
  return store.incarnation;
}

/** A store with one run of so many entries, which is closed again. */
async function written(path: string, notes: number): Promise<void> {
  const { journal } = await sqliteStore(path);
  const lease = await begin(journal, "a");
  await journal.append(lease, entries(2, notes));
  await journal.close();
}

const FIRST = { generation: 1, floor: 0 };

test("a store that is opened again, by one or several, is the same one", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  await written(path, 5);
  const [one, other] = [await sqliteStore(path), await sqliteStore(path)];
  assert.deepEqual([one.incarnation, other.incarnation], [FIRST, FIRST]);
  await Promise.all([one.close(), other.close()]);
  renameSync(path, `${path}2`);
  assert.deepEqual(await incarnationAt(`${path}2`), FIRST, "moved on its disk");
});

test("F33 a backup that was restored as a new file is another incarnation, and stays that one", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  await written(path, 5);
  copyFileSync(path, `${path}.new`);
  renameSync(`${path}.new`, path);
  const { restored, ...restoredOnce } = await incarnationAt(path);
  assert.match(restored ?? "", /not the one that it was written in/u);
  assert.deepEqual(restoredOnce, { generation: 2, floor: NOW });
  assert.deepEqual(await incarnationAt(path), { generation: 2, floor: NOW });
});

test("F33 a backup that was written over the store is another incarnation, also when it is of a store at work", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  const { journal } = await sqliteStore(path);
  const lease = await begin(journal, "a");
  const reader = new DatabaseSync(path);
  reader.exec(`VACUUM INTO '${path}.backup'`);
  reader.close();
  await journal.append(lease, entries(2, 3));
  await journal.close();
  const { ino } = statSync(path);
  writeFileSync(path, readFileSync(`${path}.backup`));
  assert.equal(statSync(path).ino, ino);
  assert.match((await incarnationAt(path)).restored ?? "", /lacks entries/u);
  assert.deepEqual(await incarnationAt(path), { generation: 2, floor: NOW });
});

test("F33 F26 a backup from before stores had incarnations is another incarnation", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  openDatabase(`${path}.old`, MIGRATIONS.slice(0, 2)).close();
  await written(path, 2);
  rmSync(path);
  renameSync(`${path}.old`, path);
  assert.equal((await incarnationAt(path)).generation, 2);
});

test("F26 a store of the version before is brought to this one, and is no other incarnation", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  openDatabase(path, MIGRATIONS.slice(0, 2)).close();
  assert.deepEqual(await incarnationAt(path), FIRST);
});

test("what lies beside a store and cannot be read says nothing", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  await written(path, 2);
  for (const rubbish of ["", "rubbish", "1 2 3", "-1 -1"]) {
    writeFileSync(`${path}-mark`, rubbish);
    assert.deepEqual(await incarnationAt(path), FIRST);
  }
});

test("F33 G8 a takeover after a restore has a higher epoch than all before, also of an earlier restore", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  await written(path, 2);
  const epochs: number[] = [];
  for (const [now, restored] of [
    [NOW, false],
    [NOW + 1, true],
    [NOW + 2, false],
    [NOW + 3, true],
  ] as const) {
    const { journal } = await sqliteStore(path, { now: () => now, restored });
    epochs.push((await journal.lease("a", thisHolder())).epoch);
    await journal.close();
  }
  assert.deepEqual(epochs, [2, NOW + 1, NOW + 2, NOW + 3]);
});
