import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { STORE_LIMITS } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { failSyncs } from "./failing-sync.fixture.ts";
import { begin, entries, entry, folder, neighbour, rejects, sqliteJournalAt } from "./journal.fixture.ts";

/* F31: the disk reports errors, or another process keeps the store; what was not known is never called refused. */

void describe("a store whose disk fails", () => {
  void test("F31 a sync that fails now and then loses no entry: the store is reopened and the work repeated", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const other = await neighbour("appender.fixture.ts", path, "a");
    await other.lines.next();
    const syncs = await failSyncs(other.holder.pid, "3+5");
    let acknowledged = 0;
    // Each of these commits made the appender wait for one that failed, or would have.
    for (let seen = 0; seen < 20; seen += 1) acknowledged = Number((await other.lines.next()).value);
    await syncs.end();
    await other.end();
    const journal = await sqliteJournalAt(path);
    const { seq } = (await journal.head("a")) ?? { seq: 0 };
    assert.ok(seq >= acknowledged && acknowledged >= 40, `${seq} entries, ${acknowledged} acknowledged`);
    assert.deepEqual(await journal.verify("a"), { entries: seq });
    await journal.close();
  });

  void test("F31 a run whose commit failed for good is called unknown, not refused, and not called a full disk", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const other = await neighbour("creator.fixture.ts", path);
    assert.equal((await other.lines.next()).value, "ready");
    const syncs = await failSyncs(other.holder.pid, "1+");
    other.say("make it");
    assert.equal((await other.lines.next()).value, "COMMIT_UNKNOWN");
    await syncs.end();
    // Its caller got no refusal, so it may be there; the file itself is sound.
    await other.end();
    const journal = await sqliteJournalAt(path);
    const found = await journal.head("a");
    if (found !== undefined) assert.deepEqual(await journal.verify("a"), { entries: found.seq });
    await journal.close();
  });

  void test("F31 a store that another process keeps for longer than a commit waits is called busy, and the process goes on", async () => {
    using place = folder();
    const path = join(place.path, "journal");
    const journal = await sqliteJournalAt(path);
    const lease = await begin(journal, "a");
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    let turns = 0;
    const clock = setInterval(() => (turns += 1), 1);
    const fault = await rejects(journal.append(lease, [entry(2)]), "STORE_BUSY");
    clearInterval(clock);
    // SQLite's own waiting would have let the event loop turn once or twice.
    assert.ok(turns > 20, `${turns} turns`);
    assert.match(fault.message, new RegExp(`${STORE_LIMITS.busyMs} ms`));
    other.exec("COMMIT");
    other.close();
    await journal.append(lease, [entry(2)]);
    assert.deepEqual(await journal.verify("a"), { entries: 2 });
    await journal.close();
  });
});

void describe("a call whose outcome was not known, repeated", () => {
  void test("entries that are there to the letter are left as they are; others are in conflict", async () => {
    using place = folder();
    const journal = await sqliteJournalAt(join(place.path, "journal"));
    const lease = await begin(journal, "a");
    await journal.append(lease, entries(2, 4));
    await journal.append(lease, entries(2, 4));
    await journal.append(lease, entries(3, 6));
    await rejects(journal.append(lease, [entry(6, { type: "note.observed", note: "another" })]), "CONFLICT");
    await journal.release(lease);
    await journal.append(lease, entries(5, 6));
    await rejects(journal.append(lease, entries(5, 7)), "LEASE_LOST");
    assert.deepEqual(await journal.verify("a"), { entries: 6 });
    await journal.close();
  });

  void test("a run that was made so is found with its lease, also by its key; one that is another's is in conflict", async () => {
    using place = folder();
    const journal = await sqliteJournalAt(join(place.path, "journal"));
    const run = { id: "a", owner: "me", thread: "t", key: "k" };
    const made = await journal.create(run, entries(1, 2), thisHolder());
    const again = await journal.create(run, entries(1, 2), thisHolder());
    assert.deepEqual({ lease: again.lease, head: { ...again.head } }, { lease: made.lease, head: made.head });
    await rejects(journal.create(run, entries(1, 3), thisHolder()), "CONFLICT");
    await rejects(journal.create(run, entries(1, 2), { ...thisHolder(), pid: 1 }), "CONFLICT");
    await journal.close();
  });
});
