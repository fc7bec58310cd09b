import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { thisHolder } from "./lease-holder.ts";
import { entry, sqliteJournalAt, startedEvent } from "./journal.fixture.ts";

/* A store with many runs, and pages of it that go bad while no process has it open. */

const PAGE_BYTES = 4096;

/** Fills a store with runs of `owner` that are over, each with a handful of entries; gives their ids, oldest first. */
export async function fillStore(path: string, count: number, owner = "local"): Promise<readonly string[]> {
  const journal = await sqliteJournalAt(path);
  const ids = Array.from({ length: count }, (_, index) => `run_${String(index).padStart(6, "0")}`);
  // Those of one turn share a commit.
  const made = ids.map(async (id) => {
    const note = entry(2, { type: "note.observed", note: "x".repeat(600) });
    const end = entry(4, { type: "run.finished", result: "done" });
    const run = { id, owner, thread: `thread_${id}` };
    const { lease } = await journal.create(
      run,
      [entry(1, startedEvent(`do ${id}`)), note, entry(3), end],
      thisHolder(),
    );
    if (lease !== undefined) await journal.release(lease);
  });
  await Promise.all(made);
  await journal.close();
  return ids;
}

/** The leaf pages of a table or an index, in the order of their keys. */
export function leavesOf(path: string, name: string): readonly number[] {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const rows = database.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path");
    return rows.all(name).map((row) => Number(row["pageno"]));
  } finally {
    database.close();
  }
}

/** Overwrites a page with rubbish. */
export function garble(path: string, page: number, byte = 0xa5): void {
  const at = (page - 1) * PAGE_BYTES;
  if (statSync(path).size < at + PAGE_BYTES) throw new Error(`${path} has no page ${page}.`);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(PAGE_BYTES, byte), 0, PAGE_BYTES, at);
  closeSync(file);
}
