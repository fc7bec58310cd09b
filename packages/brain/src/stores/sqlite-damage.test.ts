import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { Fault } from "@vidro/core";
import type { Journal, RunHead } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { linkHash } from "./hash-chain.ts";
import { fillStore, garble, leavesOf } from "./damage.fixture.ts";
import { begin, entry, folder, rejects, sqliteJournalAt } from "./journal.fixture.ts";
import { sqliteStore } from "./sqlite.ts";

const RUNS = 1000;

/** Whether a run can be read from its beginning to its end, and its chain is whole. */
async function isSound(journal: Journal, run: string): Promise<boolean> {
  try {
    const read = await journal.read(run, 0, 100);
    assert.equal(read.length, 4);
    return (await journal.verify(run)).brokenAt === undefined;
  } catch (thrown) {
    assert.ok(thrown instanceof Fault);
    assert.equal(thrown.code, "JOURNAL_CORRUPT", thrown.message);
    assert.ok(thrown.message.includes(run), thrown.message);
    return false;
  }
}

void describe("a page of the file that is damaged", () => {
  const tables = ["entry", "entry_place", "run", "sqlite_autoindex_run_1", "run_owner"];
  for (const table of tables) {
    void test(`of ${table} takes with it the runs that lie in it, and no other one`, async () => {
      using place = folder();
      const original = join(place.path, "journal");
      const ids = await fillStore(original, RUNS);
      const leaves = leavesOf(original, table);
      assert.ok(leaves.length >= 3, `${table} has ${leaves.length} leaves`);
      for (const [index, byte] of [0xa5, 0x00, 0xff].entries()) {
        const path = join(place.path, `copy-${index}`);
        copyFileSync(original, path);
        garble(path, leaves[Math.floor((leaves.length * (index + 1)) / 5)] ?? 0, byte);
        const { journal, condition } = await sqliteStore(path);
        const all = await journal.list({ limit: RUNS * 2 });
        assert.deepEqual(all.map(({ id }) => id).sort(), ids);
        const marked = all.filter((head: RunHead) => head.damaged !== undefined).map(({ id }) => id);
        const unsound: string[] = [];
        for (const id of ids) if (!(await isSound(journal, id))) unsound.push(id);
        assert.ok(unsound.length < RUNS / 4, `${unsound.length} runs are lost`);
        assert.ok(table === "run_owner" || unsound.length > 0);
        assert.deepEqual(
          unsound.filter((id) => !condition.damaged().some(({ run }) => run === id)),
          [],
        );
        assert.deepEqual(
          marked.filter((id) => !unsound.includes(id)),
          [],
        );
        const mine = await journal.list({ owner: "local", limit: RUNS * 2 });
        assert.ok(mine.length >= RUNS - unsound.length);
        await begin(journal, "new");
        assert.deepEqual(
          (await journal.list({ open: true, limit: 10 })).map(({ id }) => id),
          ["new"],
        );
        await journal.close();
      }
    });
  }

  void test("of a run that is watched does not keep those who watch other runs from being woken", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const [first = ""] = await fillStore(path, RUNS);
    const one = await sqliteJournalAt(path);
    const woken = Promise.withResolvers<void>();
    one.watch(first, () => undefined);
    garbleIndexOf(path);
    const other = await sqliteJournalAt(path);
    const lease = await begin(other, "fresh");
    one.watch("fresh", woken.resolve);
    await other.append(lease, [entry(2)]);
    await woken.promise;
    await Promise.all([one.close(), other.close()]);
  });
});

/** Damages where the places of the oldest runs are looked up. */
function garbleIndexOf(path: string): void {
  garble(path, leavesOf(path, "entry_place")[0] ?? 0);
}

void describe("an entry of a type that this version does not know", () => {
  async function withUnknown(path: string, type: string): Promise<void> {
    const journal = await sqliteJournalAt(path);
    for (const id of ["a", "b"]) await journal.release(await begin(journal, id));
    await journal.append(await journal.lease("a", thisHolder()), [entry(2)]);
    await journal.close();
    const database = new DatabaseSync(path);
    const hash = database.prepare("SELECT lower(hex(hash)) AS hash FROM entry WHERE run = 1 AND seq = 1").get()?.[
      "hash"
    ];
    const body = JSON.stringify({ type, note: "from the future" });
    // As a newer version would have written it: the chain is whole.
    const next = linkHash("a", String(hash), { seq: 2, at: 1002, body });
    database.prepare("UPDATE entry SET body = ?, hash = unhex(?) WHERE run = 1 AND seq = 2").run(body, next);
    database.close();
  }

  void test("is refused by its place and its type, and the other runs are not affected", async () => {
    using place = folder();
    for (const type of ["note.dreamt", "constructor", "toString"]) {
      const path = join(place.path, type);
      await withUnknown(path, type);
      const journal = await sqliteJournalAt(path);
      const said = `entry 2 has type ${type}, which this version does not know`;
      const { message } = await rejects(journal.read("a", 0, 10), "STORE_NEWER");
      assert.ok(message.includes(said) && message.includes("a:"), message);
      const { entries, brokenAt, reason = "" } = await journal.verify("a");
      assert.deepEqual({ entries, brokenAt }, { entries: 1, brokenAt: 2 });
      assert.ok(reason.includes(said), reason);
      assert.equal((await journal.read("b", 0, 10)).length, 1);
      assert.equal((await journal.list({ limit: 10 })).length, 2);
      await journal.close();
    }
  });
});
