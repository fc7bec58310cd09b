import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@vidro/core";
import type { Event, Journal, Lease } from "@vidro/core";
import { begin, entry, sqliteJournalAt } from "./journal.fixture.ts";

const note: Event = { type: "note.observed", note: "x".repeat(10_000) };

/** Appends until the store says that it is full; gives the last `seq` that it took. */
export async function fill(journal: Journal, lease: Lease, from: number): Promise<number> {
  for (let seq = from; ; seq += 1) {
    try {
      await journal.append(lease, [entry(seq, note)]);
    } catch (thrown) {
      assert.ok(thrown instanceof Fault);
      assert.equal(thrown.code, "STORAGE_FULL", thrown.message);
      return seq - 1;
    }
  }
}

// As a program: fills the small disk that is mounted at the given folder, frees a part of it, and goes on.
if (import.meta.main) {
  const [disk] = process.argv.slice(2);
  assert.ok(disk !== undefined);
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc(512 * 1024));
  const journal = await sqliteJournalAt(join(disk, "journal"));
  const lease = await begin(journal, "a");
  const last = await fill(journal, lease, 2);
  assert.ok(last > 1);
  assert.equal((await journal.read("a", 0, 10_000)).length, last);
  assert.equal((await journal.list({ open: true, limit: 10 })).length, 1);
  rmSync(ballast);
  await journal.append(lease, [entry(last + 1)]);
  assert.deepEqual(await journal.verify("a"), { entries: last + 1 });
  await journal.close();
}
