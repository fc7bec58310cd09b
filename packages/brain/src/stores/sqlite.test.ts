import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { Fault, STORE_LIMITS } from "@vidro/core";
import type { Entry } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { begin, commitsIn, entries, entry, folder, neighbour, rejects, sqliteJournalAt } from "./journal.fixture.ts";
import { interleavings } from "./lease.contract.ts";
import { openDatabase } from "./sqlite/open.ts";
import { MIGRATIONS } from "./sqlite/schema.ts";

/** Does SQL behind the journal's back. */
function tamper(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function versionOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
  database.close();
  return version;
}

void describe("the file", () => {
  void test("only its owner can read the store and its folder", async () => {
    using place = folder();
    const path = join(place.path, "new", "journal");
    const journal = await sqliteJournalAt(path);
    await begin(journal, "a");
    const modes = ["..", "", "-wal", "-shm"].map((end) => statSync(end === ".." ? join(path, "..") : path + end).mode);
    assert.deepEqual(
      modes.map((mode) => mode & 0o777),
      [0o700, 0o600, 0o600, 0o600],
    );
    await journal.close();
    await rejects(journal.append({ run: "a", epoch: 1 }, [entry(2)]), "STORE_UNREADABLE");
    await rejects(journal.read("a", 0, 1), "STORE_UNREADABLE");
  });

  void test("what is no store is refused by name and left as it is", async () => {
    using place = folder();
    const at = (name: string): string => join(place.path, name);
    writeFileSync(at("text"), "once upon a time ".repeat(100));
    mkdirSync(at("folder"));
    tamper(at("foreign"), "CREATE TABLE recipe (name TEXT)");
    const before = readFileSync(at("foreign"));
    for (const name of ["text", "folder", "foreign", "text/below"]) {
      await rejects(sqliteJournalAt(at(name)), "STORE_UNREADABLE");
    }
    assert.deepEqual(readFileSync(at("foreign")), before);
  });

  void test("a store of a newer version is refused with both numbers", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    await (await sqliteJournalAt(path)).close();
    tamper(path, "PRAGMA user_version = 70");
    const fault = await rejects(sqliteJournalAt(path), "STORE_NEWER");
    assert.deepEqual(fault.detail, { found: 70, known: MIGRATIONS.length });
    assert.match(fault.message, new RegExp(`version 70; .* up to ${MIGRATIONS.length}\\b`));
  });

  void test("an empty file becomes a store, and an older store the newest with all its runs", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    writeFileSync(path, "");
    const journal = await sqliteJournalAt(path);
    await begin(journal, "a");
    await journal.close();
    openDatabase(path, [...MIGRATIONS, "ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"]).close();
    assert.equal(versionOf(path), MIGRATIONS.length + 1);
    const database = new DatabaseSync(path);
    assert.deepEqual({ ...database.prepare("SELECT id, colour FROM run").get() }, { id: "a", colour: "red" });
    database.close();
  });

  void test("a migration that fails leaves the store at its version", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    await (await sqliteJournalAt(path)).close();
    const broken = [...MIGRATIONS, "CREATE TABLE half (a TEXT); CREATE TABLE half (b TEXT)"];
    assert.throws(() => openDatabase(path, broken), { code: "STORE_UNREADABLE" });
    assert.equal(versionOf(path), MIGRATIONS.length);
    const journal = await sqliteJournalAt(path);
    await begin(journal, "a");
    await journal.close();
  });
});

void describe("several connections", () => {
  void test("two journals on one store that append in any interleaving keep runs gapless and sound", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const journals = [await sqliteJournalAt(path), await sqliteJournalAt(path)] as const;
    await interleavings(journals);
    for (const journal of journals) await journal.close();
  });

  void test("a lease that is taken through another connection ends ours at once", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const [ours, theirs] = [await sqliteJournalAt(path), await sqliteJournalAt(path)];
    const old = await begin(ours, "a");
    await ours.append(old, [entry(2)]);
    const lease = await theirs.lease("a", thisHolder());
    await rejects(ours.append(old, [entry(3)]), "LEASE_LOST");
    await theirs.append(lease, [entry(3)]);
    assert.deepEqual(await ours.verify("a"), { entries: 3 });
    await ours.close();
    await theirs.close();
  });

  void test("processes that make one store at the same time all get to use it", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const names = ["a", "b", "c"];
    const others = await Promise.all(names.map((name) => neighbour("appender.fixture.ts", path, name)));
    for (const other of others) assert.equal((await other.lines.next()).value, "3");
    for (const other of others) await other.end();
    const journal = await sqliteJournalAt(path);
    for (const name of names) assert.equal((await journal.verify(name)).brokenAt, undefined);
    await journal.close();
  });

  void test("a commit of another process wakes the watchers of that run and no others", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const journal = await sqliteJournalAt(path);
    await begin(journal, "mine");
    let disturbed = 0;
    journal.watch("mine", () => (disturbed += 1));
    const woken = new Promise<void>((resolve) => journal.watch("theirs", resolve));
    const other = await neighbour("appender.fixture.ts", path, "theirs");
    await woken;
    assert.ok((await journal.read("theirs", 0, 10)).length > 0);
    assert.equal(disturbed, 0);
    await other.end();
    await journal.close();
  });

  void test("a commit waits for another connection to end its own, and does not block the process meanwhile", async (t) => {
    // However slow the machine is: how long a commit waits at most is not what this is about.
    const { busyMs } = STORE_LIMITS;
    Object.assign(STORE_LIMITS, { busyMs: 600_000 });
    t.after(() => Object.assign(STORE_LIMITS, { busyMs }));
    using place = folder();
    const path = join(place.path, "journal");
    const journal = await sqliteJournalAt(path);
    const lease = await begin(journal, "a");
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = journal.append(lease, [entry(2)]);
    // Two turns later the commit has been tried, and this process still runs.
    await setImmediate();
    await setImmediate();
    const behind = journal.append(lease, [entry(3)]);
    const closed = journal.close();
    other.exec("COMMIT");
    await Promise.all([waiting, behind, closed]);
    assert.deepEqual({ ...other.prepare("SELECT max(seq) AS seq FROM entry").get() }, { seq: 3 });
    other.close();
  });

  void test("all calls of one turn share one commit", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const journal = await sqliteJournalAt(path);
    const leases = await Promise.all(Array.from({ length: 64 }, (_, index) => begin(journal, `run ${index}`)));
    const before = commitsIn(`${path}-wal`);
    await Promise.all(leases.map((lease) => journal.append(lease, entries(2, 4))));
    assert.equal(commitsIn(`${path}-wal`) - before, 1);
    await journal.close();
  });
});

void describe("damage", () => {
  const damages = {
    "a flipped byte in a body": [
      "UPDATE entry SET body = replace(body, 'note 5', 'note 4') WHERE run = 1 AND seq = 5",
      5,
    ],
    "a changed time": ["UPDATE entry SET at = at + 1 WHERE run = 1 AND seq = 5", 5],
    "a changed seq": ["UPDATE entry SET seq = 50 WHERE run = 1 AND seq = 5", 5],
    "a deleted entry": ["DELETE FROM entry WHERE run = 1 AND seq = 5", 5],
    "a deleted first entry": ["DELETE FROM entry WHERE run = 1 AND seq = 1", 1],
    "a swapped pair": [
      `UPDATE entry SET seq = 99 WHERE run = 1 AND seq = 5; UPDATE entry SET seq = 5 WHERE run = 1 AND seq = 6;
      UPDATE entry SET seq = 6 WHERE run = 1 AND seq = 99`,
      5,
    ],
  } as const;
  for (const [damage, [sql, brokenAt]] of Object.entries(damages)) {
    void test(`${damage} is found, and refuses that run only`, async () => {
      using place = folder();
      const path = join(place.path, "journal");
      const journal = await sqliteJournalAt(path);
      await journal.append(await begin(journal, "a"), entries(2, 9));
      const sound = await begin(journal, "b");
      tamper(path, sql);
      const found = await journal.verify("a");
      assert.deepEqual([found.entries, found.brokenAt], [brokenAt - 1, brokenAt]);
      assert.match(found.reason ?? "", new RegExp(`entry ${brokenAt} `));
      await rejects(journal.read("a", 0, 100), "JOURNAL_CORRUPT");
      await rejects(journal.read("a", brokenAt - 1, 100), "JOURNAL_CORRUPT");
      await journal.append(sound, [entry(2)]);
      assert.equal((await journal.read("b", 0, 100)).length, 2);
      await journal.close();
    });
  }

  void test("an ended run whose end was cut off is found", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const journal = await sqliteJournalAt(path);
    const first = [entry(1), entry(2, { type: "run.finished", result: null })];
    await journal.create({ id: "a", owner: "me", thread: "t" }, first, thisHolder());
    tamper(path, "DELETE FROM entry WHERE seq = 2");
    assert.equal((await journal.verify("a")).brokenAt, 2);
    await journal.close();
  });

  void test("a write that fails half-way is undone alone", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const journal = await sqliteJournalAt(path);
    const lease = await begin(journal, "a");
    // An entry that belongs to no run yet is in the way of the second run's first one.
    tamper(path, "INSERT INTO entry VALUES (2, 1, 0, '{}', x'00')");
    const others = [journal.append(lease, [entry(2)]), begin(journal, "b"), journal.append(lease, [entry(3)])] as const;
    await Promise.all([others[0], rejects(others[1], "CONFLICT"), others[2]]);
    assert.equal(await journal.head("b"), undefined);
    assert.deepEqual(await journal.verify("a"), { entries: 3 });
    await journal.close();
  });

  void test("F2: a flipped bit anywhere in the file never gives an entry that was not written", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const made = await sqliteJournalAt(path);
    const runs = ["a", "b", "c"];
    for (const run of runs) await made.append(await begin(made, run), entries(2, 40));
    const written = await made.read("a", 0, 100);
    await made.close();
    const bytes = readFileSync(path);
    const property = fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
      const copy = join(place.path, "copy");
      writeFileSync(copy, flipped);
      const opened = await sqliteJournalAt(copy).catch(asKnownFault);
      if (opened === undefined) return;
      for (const run of runs) {
        const read: readonly Entry[] | undefined = await opened.read(run, 0, 100).catch(asKnownFault);
        if (read !== undefined) assert.deepEqual(read, written.slice(0, read.length));
      }
      await opened.close();
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

function asKnownFault(thrown: unknown): undefined {
  assert.ok(thrown instanceof Fault);
  assert.match(thrown.code, /^(STORE_UNREADABLE|STORE_NEWER|JOURNAL_CORRUPT|NOT_FOUND)$/, thrown.message);
}
