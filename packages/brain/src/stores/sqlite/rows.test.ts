import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { RunFilter } from "../run-rules.ts";
import { openDatabase } from "./open.ts";
import { JournalTables } from "./rows.ts";

/** How SQLite finds the runs of a list. */
function planOf(t: TestContext, filter: RunFilter): string {
  const folder = mkdtempSync(join(tmpdir(), "vidro-rows-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const database = openDatabase(join(folder, "journal.db"));
  t.after(() => database.close());
  const tables = new JournalTables(database);
  const prepared = t.mock.method(database, "prepare");
  for (const _ of [1, 2]) assert.deepEqual(tables.list(filter), []);
  assert.equal(prepared.mock.callCount(), 1, "the same list is prepared once");
  const [sql = ""] = prepared.mock.calls[0]?.arguments ?? [];
  const values = sql
    .split("?")
    .slice(1)
    .map(() => "");
  return String(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values)[0]?.["detail"]);
}

test("open runs of an owner are found among the open ones, however many have ended", (t) => {
  assert.equal(planOf(t, { owner: "ana", open: true, limit: 10 }), "SCAN run USING INDEX run_open");
});

test("runs of an owner, and open ones of a conversation, are found by their index", (t) => {
  assert.equal(planOf(t, { owner: "ana", limit: 10 }), "SEARCH run USING INDEX run_owner (owner=?)");
  const open = planOf(t, { owner: "ana", thread: "t1", open: true, limit: 10 });
  assert.equal(open, "SEARCH run USING INDEX run_thread (thread=?)");
});
