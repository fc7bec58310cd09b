import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Fault, STORE_LIMITS } from "@vidro/core";
import { GroupCommit } from "./group-commit.ts";

/** A database with one table, and group commits on it that are counted. */
function opened(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "vidro-commit-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE item (n INTEGER PRIMARY KEY)");
  const insert = database.prepare("INSERT INTO item (n) VALUES (?)");
  const hooks: string[] = [];
  const group = new GroupCommit(database, {
    path,
    reopen: () => database,
    begun: () => void hooks.push("begun"),
    committing: () => void hooks.push("committing"),
    undone: () => void hooks.push("undone"),
    committed: () => void hooks.push("committed"),
  });
  t.after(() => database.close());
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  const items = (): number[] =>
    other
      .prepare("SELECT n FROM item ORDER BY rowid")
      .all()
      .map(({ n }) => Number(n));
  const put = (n: number): Promise<number> =>
    group.do(() => {
      insert.run(n);
      return n;
    });
  return { group, put, insert, items, hooks, other };
}

describe("writes of one turn of the event loop", () => {
  it("share one commit, in the order in which they were asked for, and settle when it is on disk", async (t) => {
    const { put, items, hooks } = opened(t);
    const settled: number[] = [];
    const all = [3, 1, 2].map(async (n) => {
      settled.push(await put(n));
      assert.deepEqual(items(), [1, 2, 3], "on disk before the first of them is told");
    });
    assert.deepEqual(items(), []);
    await Promise.all(all);
    assert.deepEqual(settled, [3, 1, 2]);
    assert.deepEqual(hooks, ["begun", "committing", "committed"]);
  });

  it("of the next turn are another commit", async (t) => {
    const { put, hooks } = opened(t);
    await put(1);
    await put(2);
    assert.equal(hooks.filter((hook) => hook === "committed").length, 2);
  });

  it("are refused one by one: a fault before anything was written touches no other", async (t) => {
    const { group, put, items, hooks } = opened(t);
    const refusing = group.do(() => {
      throw new Fault("CONFLICT", "no");
    });
    const results = await Promise.allSettled([put(1), refusing, put(2)]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual(items(), [1, 2]);
    assert.equal(hooks.includes("undone"), false);
  });

  it("leave nothing of one that failed half-way, and lose none of the others", async (t) => {
    const { group, put, insert, items, hooks } = opened(t);
    const failing = group.do(() => {
      insert.run(7);
      insert.run(7);
    });
    const results = await Promise.allSettled([put(1), failing, put(2)]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual(items(), [1, 2]);
    assert.deepEqual(hooks, ["begun", "undone", "begun", "committing", "committed"]);
  });

  it("wait for a lock of another process without holding up this one, and keep their order", async (t) => {
    const { put, items, other } = opened(t);
    other.exec("BEGIN IMMEDIATE");
    let turns = 0;
    const first = put(1);
    for (; turns < 5; turns += 1) await turn();
    const second = put(2);
    other.exec("COMMIT");
    assert.deepEqual(await Promise.all([first, second]), [1, 2]);
    assert.deepEqual(items(), [1, 2]);
    assert.equal(turns, 5);
  });

  it("that are more than may wait are refused at once, and those before them are done", async (t) => {
    const { put, items, other } = opened(t);
    other.exec("BEGIN IMMEDIATE");
    const first = put(0);
    await turn();
    const waiting = Array.from({ length: STORE_LIMITS.waiting - 1 }, (_, index) => put(index + 1));
    await assert.rejects(put(-1), { code: "STORE_BUSY", message: /calls wait for the store/ });
    other.exec("COMMIT");
    await Promise.all([first, ...waiting]);
    assert.equal(items().length, STORE_LIMITS.waiting);
  });

  it("are no longer asked to be patient by reads than they need to be", async (t) => {
    const { group, put } = opened(t);
    group.bePatient();
    await put(1);
    group.bePatient();
    group.bePatient();
    assert.equal(await put(2), 2);
  });
});
