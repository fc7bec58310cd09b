import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startPostgres } from "../../../../../tests/support/postgres-server.ts";
import { startReplyCutter } from "../../../../../tests/support/reply-cutter.ts";
import { begin, entry, neighbour } from "../journal.fixture.ts";
import { thisHolder } from "../lease-holder.ts";
import { postgresStore } from "../postgres.ts";

const KILLS = 8;

const server = await startPostgres();
after(() => server.close());

/** A record about an entry. */
const about = (id: string) => ({ kind: "message", id, owner: "me", body: { about: id } });

test("an entry whose record the server refuses is not written either, and both are when it is repeated", async () => {
  const store = await postgresStore(server.storeUrl("refused"));
  const { journal, records } = store;
  const lease = await begin(journal, "a");
  await server.query("ALTER TABLE refused.record ADD CONSTRAINT no_messages CHECK (kind <> 'message')");
  const made = { id: "b", owner: "me", thread: "t", beside: [about("b1")] };
  await assert.rejects(journal.append(lease, [entry(2)], [about("a2")]));
  await assert.rejects(journal.create(made, [entry(1)], thisHolder()));
  assert.deepEqual([(await journal.head("a"))?.seq, await journal.head("b")], [1, undefined]);
  await server.query("ALTER TABLE refused.record DROP CONSTRAINT no_messages");
  await journal.append(lease, [entry(2)], [about("a2")]);
  await journal.create(made, [entry(1)], thisHolder());
  const listed = await records.list("message", { limit: 9 });
  assert.deepEqual([...listed.map(({ id }) => id), (await journal.head("b"))?.seq], ["a2", "b1", 1]);
  await store.close();
});

test("F16 records whose commit is known to no one are made once", async () => {
  await using way = await startReplyCutter(server.port);
  const store = await postgresStore(server.storeUrl("unknown").replace(String(server.port), String(way.port)));
  const { journal, records } = store;
  const lease = await begin(journal, "a");
  way.cutReplyTo("note 2");
  await journal.append(lease, [entry(2)], [about("a2")]);
  way.cutReplyTo("run-b-task");
  const first = [entry(1, { type: "note.observed", note: "run-b-task" })];
  await journal.create({ id: "b", owner: "me", thread: "t", beside: [about("b1")] }, first, thisHolder());
  assert.equal(way.cuts, 2);
  const listed = await records.list("message", { limit: 9 });
  assert.deepEqual(
    listed.map(({ id, version }) => `${id} ${version}`),
    ["a2 1", "b1 1"],
  );
  await store.close();
});

test("F1 a brain that is killed at any time leaves each entry with its record, and no record without its entry", async () => {
  const url = server.storeUrl("killed");
  for (let kill = 0; kill < KILLS; kill += 1) {
    const run = `run-${kill}`;
    const other = await neighbour("besider.fixture.ts", url, run);
    for (let told = 0; told < 1 + ((kill * 7) % 11); told += 1) await other.lines.next();
    await other.end();
    // What the server was given before the end may be committed after it: its connections are gone first.
    await server.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name <> '' AND pid <> pg_backend_pid()`);
    const store = await postgresStore(url);
    const seqs = (await store.journal.read(run, 0, 1_000)).map(({ seq }) => seq);
    const listed = await store.records.list(run, { limit: 1_000 });
    assert.ok(seqs.length > 1);
    assert.deepEqual(
      listed.map(({ id }) => Number(id)),
      seqs,
    );
    await store.close();
  }
});
