import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Event } from "@vidro/core";
import { startPostgres } from "../../../../tests/support/postgres-server.ts";
import { startReplyCutter } from "../../../../tests/support/reply-cutter.ts";
import { begin, entries, entry, rejects } from "./journal.fixture.ts";
import { interleavings } from "./lease.contract.ts";
import { thisHolder } from "./lease-holder.ts";
import { POSTGRES_MIGRATIONS } from "./postgres/schema.ts";
import { postgresStore } from "./postgres.ts";
import { spendingAfterMigration } from "./spending.contract.ts";

const server = await startPostgres();
after(() => server.close());

/** The same store by way of another port. */
function storeThrough(port: number, schema: string): string {
  return server.storeUrl(schema).replace(String(server.port), String(port));
}

test("brains that open an empty database at once make one schema, and a newer one is refused", async () => {
  const url = server.storeUrl("raced");
  const stores = await Promise.all(Array.from({ length: 6 }, () => postgresStore(url)));
  assert.equal((await server.query("SELECT * FROM raced.version")).length, 1);
  await Promise.all(stores.map((store) => store.close()));
  await server.query("UPDATE raced.version SET version = 70");
  const fault = await rejects(postgresStore(url), "STORE_NEWER");
  assert.deepEqual(fault.detail, { found: 70, known: POSTGRES_MIGRATIONS.length });
  await server.query("CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.recipe (name text)");
  await rejects(postgresStore(server.storeUrl("foreign_one")), "STORE_UNREADABLE");
});

test("two brains that append in any interleaving keep runs gapless and their chains sound", async () => {
  const [one, other] = await Promise.all([
    postgresStore(server.storeUrl("interleaved")),
    postgresStore(server.storeUrl("interleaved")),
  ]);
  await interleavings([one.journal, other.journal]);
  await one.close();
  await other.close();
});

test("a commit at one brain wakes the watchers at another", async () => {
  const [one, other] = await Promise.all([
    postgresStore(server.storeUrl("woken")),
    postgresStore(server.storeUrl("woken")),
  ]);
  const lease = await begin(one.journal, "a");
  const { promise: woken, resolve } = Promise.withResolvers<void>();
  const stop = other.journal.watch(
    "a",
    () => void other.journal.head("a").then((head) => head?.seq === 2 && resolve()),
  );
  const changed = new Promise<void>((wake) => other.records.watch("thing", wake));
  await one.journal.append(lease, [entry(2)]);
  await one.records.put({ kind: "thing", id: "a", owner: "me", body: {} });
  await Promise.all([woken, changed]);
  stop();
  await one.close();
  await other.close();
});

test("F16 a write whose reply is lost after the commit is found, and not made twice", async () => {
  await using way = await startReplyCutter(server.port);
  const store = await postgresStore(storeThrough(way.port, "lost_reply"));
  const { journal, records } = store;
  const lease = await begin(journal, "a");
  way.cutReplyTo("note 2");
  await journal.append(lease, entries(2, 4));
  way.cutReplyTo('"n":1');
  assert.equal((await records.put({ kind: "thing", id: "a", owner: "me", body: { n: 1 } })).version, 1);
  way.cutReplyTo("run-b-task");
  const first = [entry(1, { type: "note.observed", note: "run-b-task" })];
  const made = await journal.create({ id: "b", owner: "me", thread: "t", key: "k" }, first, thisHolder());
  assert.deepEqual([made.head.id, made.lease?.epoch], ["b", 1]);
  assert.equal(way.cuts, 3);
  await journal.append(lease, [entry(5)]);
  assert.deepEqual(await journal.verify("a"), { entries: 5 });
  assert.deepEqual(await journal.verify("b"), { entries: 1 });
  await store.close();
});

test("F14 connections that are cut, and a server that is killed and started again, are healed", async () => {
  await using way = await startReplyCutter(server.port);
  const store = await postgresStore(storeThrough(way.port, "restarted"));
  const { journal } = store;
  const lease = await begin(journal, "a");
  const written = { last: 1 };
  const over = new AbortController();
  const appendUntilOver = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await journal.append(lease, [entry(written.last + 1)]);
      written.last += 1;
    }
  };
  const appending = appendUntilOver();
  const grownBy = async (count: number): Promise<void> => {
    const to = written.last + count;
    while (written.last < to) await new Promise(setImmediate);
  };
  await grownBy(3);
  way.cutAll();
  await grownBy(3);
  await server.kill();
  await server.start();
  await grownBy(3);
  over.abort();
  await appending;
  assert.deepEqual(await journal.verify("a"), { entries: written.last });
  await store.close();
});

test("an entry that was changed behind the journal is found", async () => {
  const store = await postgresStore(server.storeUrl("tampered"));
  const { journal, condition } = store;
  await journal.append(await begin(journal, "a"), entries(2, 4));
  await server.query("UPDATE tampered.entry SET body = replace(body, 'note 3', 'note 9')");
  assert.equal((await journal.verify("a")).brokenAt, 3);
  await rejects(journal.read("a", 0, 10), "JOURNAL_CORRUPT");
  assert.deepEqual(
    condition.damaged().map(({ run }) => run),
    ["a"],
  );
  await server.query("DELETE FROM tampered.entry WHERE seq = 4");
  await begin(journal, "b");
  await store.close();
});

test("brains on one store have one sum of what models used", async () => {
  const open = () => postgresStore(server.storeUrl("shared_sums"));
  const stores = await Promise.all([open(), open(), open()]);
  const replied = {
    type: "model.replied",
    model: "m",
    text: "",
    usage: { inputTokens: 2, outputTokens: 1, costUsd: 0.5 },
  };
  const work = stores.map(async ({ journal }, index) => {
    const lease = await begin(journal, `run-${index}`);
    for (let seq = 2; seq < 12; seq += 1) await journal.append(lease, [entry(seq, replied as Event)]);
  });
  await Promise.all(work);
  for (const { spending } of stores) {
    assert.deepEqual((await spending.sum("day", "1970-01-01")).costUsd, 15);
    assert.deepEqual((await spending.sum("thread", "t")).steps, 30);
  }
  await Promise.all(stores.map((store) => store.close()));
});

test("a store from before there were sums of what models used begins with what its journals tell", async () => {
  const older =
    "DROP TABLE summed.spending; ALTER TABLE summed.run DROP COLUMN sole; UPDATE summed.version SET version = 4";
  const open = () => postgresStore(server.storeUrl("summed"));
  const { before, after: later } = await spendingAfterMigration(open, () => server.query(older));
  assert.equal(before.length, 5);
  assert.deepEqual(later, before);
});

test("runs that begin and end at once are one commit each, and one that is refused fails alone", async () => {
  const store = await postgresStore(server.storeUrl("at_once"));
  const { journal } = store;
  const commits = async (): Promise<number> =>
    (await server.query("SELECT DISTINCT xmin::text FROM at_once.run")).length;
  const ids = Array.from({ length: 20 }, (_, index) => `run-${index}`);
  const leases = await Promise.all(ids.map((id) => begin(journal, id)));
  assert.equal(await commits(), 1);
  const listed = await journal.list({ limit: 20 });
  assert.deepEqual(
    listed.map(({ id }) => id),
    ids.toReversed(),
    "the order of the calls",
  );
  assert.deepEqual(
    (await Promise.all([...ids, "none"].map((id) => journal.head(id)))).map((head) => head?.id),
    [...ids, undefined],
  );
  await Promise.all(leases.map((lease) => journal.append(lease, entries(2, 3))));
  assert.equal(await commits(), 1);
  const read = await Promise.all(ids.map((id, index) => journal.read(id, index % 5, 2)));
  assert.deepEqual(
    read.map((found) => found.map(({ seq }) => seq)),
    ids.map((_, index) => [[1, 2], [2, 3], [3], [], []][index % 5]),
    "each reader has its own run from its own place on",
  );
  await Promise.all(leases.map((lease) => journal.release(lease)));
  assert.equal(await commits(), 1);
  for (const id of ids) assert.equal((await journal.verify(id)).entries, 3);

  const create = (id: string, owner: string, key: string): Promise<Awaited<ReturnType<typeof journal.create>>> =>
    journal.create({ id, owner, thread: "t", key }, [entry(1)], thisHolder());
  const [good, bad, , empty, other] = await Promise.allSettled([
    create("good", "me", "k"),
    create("bad", "m\0e", "k"),
    // The same id again, in the same statement.
    create("good", "you", "k"),
    journal.create({ id: "empty", owner: "me", thread: "t" }, [], thisHolder()),
    create("other", "me", "l"),
  ]);
  assert.deepEqual(
    [good, bad, empty, other].map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
  assert.equal((await journal.verify("good")).entries, 1);
  assert.equal((await create("again", "me", "l")).head.id, "other");
  await store.close();
});
