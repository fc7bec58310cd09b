import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { HOUR_MS } from "@vidro/core";
import { begin, entry, folder } from "../stores/journal.fixture.ts";
import { sealKey } from "../stores/seal.ts";
import { sqliteStore } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { RunRetention } from "./run-retention.ts";

const DAY_MS = 24 * HOUR_MS;
const NOW = 1000 * DAY_MS;

/** A sealed store in a file at a time of its own. */
async function sealedStore(t: TestContext): Promise<{ readonly store: Store; readonly path: string }> {
  const place = folder();
  t.after(() => place[Symbol.dispose]());
  const key = await sealKey(join(place.path, "audit-key"));
  const store = await sqliteStore(join(place.path, "store"), { now: () => NOW, sealKey: key });
  t.after(() => store.close());
  return { store, path: place.path };
}

/** Makes a run that ended so many days ago, with so many characters that no other run has. */
async function ended(
  { journal }: Store,
  id: string,
  { days, chars = 10 }: { days: number; chars?: number },
): Promise<void> {
  const lease = await begin(journal, id);
  const at = NOW - days * DAY_MS;
  await journal.append(lease, [
    { ...entry(2, { type: "note.observed", note: id.repeat(chars) }), at },
    { ...entry(3, { type: "run.aborted", reason: "done" }), at },
  ]);
}

function retentionOf(
  { retention, journal }: Store,
  rules: ConstructorParameters<typeof RunRetention>[1],
): RunRetention {
  assert.ok(retention);
  return new RunRetention({ retention, journal, now: () => NOW }, rules);
}

function findings({ audit }: Store): readonly string[] {
  const found: string[] = [];
  audit?.check((finding) => found.push(finding));
  return found;
}

async function ids({ journal }: Store): Promise<readonly string[]> {
  return (await journal.list({ limit: 100 })).map(({ id }) => id);
}

test("runs are deleted by their age, in commits of a few, written to files first, and an audit knows them", async (t) => {
  const { store, path } = await sealedStore(t);
  for (let run = 0; run < 45; run += 1) await ended(store, `old${run}`, { days: 40 });
  await begin(store.journal, "open");
  await ended(store, "young", { days: 3 });
  const exportTo = join(path, "export");
  const old = retentionOf(store, { days: 30, storeMib: 0, exportTo });
  assert.equal(await old.count(), 45);
  assert.equal(await old.prune(), 45);
  assert.deepEqual(await ids(store), ["young", "open"]);
  assert.deepEqual(findings(store), []);
  assert.equal(readdirSync(exportTo).length, 45);
  const lines = readFileSync(join(exportTo, "old7.ndjson"), "utf8").trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { event: { type: string } }).event.type),
    ["run.started", "note.observed", "run.aborted"],
  );
  assert.equal(await old.prune(), 0);
});

test("a store beyond its size loses its oldest ended runs, but none of the last day", async (t) => {
  const { store } = await sealedStore(t);
  for (let run = 0; run < 60; run += 1) await ended(store, `run${run}`, { days: 90 - run, chars: 20_000 });
  await ended(store, "today", { days: 0, chars: 400_000 });
  const pruned = await retentionOf(store, { days: 0, storeMib: 4 }).prune();
  assert.ok(pruned >= 20 && pruned < 60, `${pruned} were deleted`);
  const kept = await ids(store);
  assert.deepEqual(kept.at(-1), `run${pruned}`, "the oldest go first");
  await retentionOf(store, { days: 0, storeMib: 1 }).prune();
  assert.deepEqual(await ids(store), ["today"]);
  assert.deepEqual(findings(store), []);
});

test("with nothing to bound them runs are kept for ever", async (t) => {
  const { store } = await sealedStore(t);
  await ended(store, "old", { days: 999 });
  await ended(store, "older", { days: 999 });
  const kept = retentionOf(store, { days: 0, storeMib: 0 });
  assert.deepEqual([await kept.count(), await kept.prune()], [0, 0], "as many are counted as are deleted");
});

test("the run with the newest entry stays, so that no key of an entry is given twice and later entries are sealed", async (t) => {
  const { store } = await sealedStore(t);
  for (const id of ["a", "b"]) await ended(store, id, { days: 99 });
  assert.equal(await retentionOf(store, { days: 30, storeMib: 0 }).prune(), 1);
  assert.deepEqual(await ids(store), ["b"]);
  await ended(store, "c", { days: 1 });
  assert.equal(await retentionOf(store, { days: 30, storeMib: 0 }).prune(), 1);
  assert.deepEqual(await ids(store), ["c"]);
  assert.deepEqual(findings(store), []);
  assert.equal(store.audit?.check(() => undefined).unsealedEntries, 0);
});
