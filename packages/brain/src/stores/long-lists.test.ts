import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startPostgres } from "../../../../tests/support/postgres-server.ts";
import { entry } from "./journal.fixture.ts";
import { thisHolder } from "./lease-holder.ts";
import { postgresStore } from "./postgres.ts";
import { sqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";

/* Lists of runs and of records are read to their end by cursor, however long they are: each row once, in order. */

const ROWS = 20_000;
const PAGE = 1000;

const server = await startPostgres();
after(() => server.close());

/** Ids in the order in which pages give them, from the first page to an empty one. */
async function idsIn(
  page: (after: string | undefined) => Promise<readonly { readonly id: string }[]>,
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const rows = await page(ids.at(-1));
    if (rows.length === 0) return ids;
    ids.push(...rows.map(({ id }) => id));
  }
}

async function assertReadWhole({ journal, records }: Store, newest: readonly string[]): Promise<void> {
  const paged = (limit: number, cursor: string | undefined) => ({ limit, ...(cursor && { after: cursor }) });
  assert.deepEqual(await idsIn((cursor) => journal.list(paged(PAGE, cursor))), newest);
  const oldest = newest.toReversed();
  assert.deepEqual(await idsIn((cursor) => records.list("thing", { ...paged(PAGE, cursor), order: "oldest" })), oldest);
  assert.deepEqual(await idsIn((cursor) => records.list("thing", { ...paged(PAGE, cursor), order: "newest" })), newest);
  const own = newest.filter((id) => id.endsWith("7"));
  const ofOwner = { owner: "owner_7" };
  assert.deepEqual(await idsIn((cursor) => journal.list({ ...paged(PAGE, cursor), ...ofOwner })), own);
  assert.deepEqual(
    await idsIn((cursor) => records.list("thing", { ...paged(PAGE, cursor), ...ofOwner, order: "newest" })),
    own,
  );
}

const NEWEST = Array.from({ length: ROWS }, (_, index) => `row_${ROWS - index}`);

test(`${ROWS} runs and records in PostgreSQL are read by cursor, each once, also those of one owner`, async () => {
  const store = await postgresStore(server.storeUrl("long"));
  await server.query(`INSERT INTO long.run (id, owner, thread, task, status, started, updated, seq, hash, epoch, until)
    SELECT 'row_' || n, 'owner_' || n % 10, 't', '"a"', 'finished', n, n, 1, '', 1, 0 FROM generate_series(1, ${ROWS}) n;
    INSERT INTO long.record (kind, id, owner, body, version, created, updated)
    SELECT 'thing', 'row_' || n, 'owner_' || n % 10, '{}', 1, n, n FROM generate_series(1, ${ROWS}) n`);
  await assertReadWhole(store, NEWEST);
  await store.close();
});

test(`${ROWS} runs and records in a file are read by cursor, each once, also those of one owner`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-lists-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const store = await sqliteStore(join(folder, "journal.db"));
  for (let from = 1; from <= ROWS; from += PAGE)
    await Promise.all(
      Array.from({ length: PAGE }, async (_, index) => {
        const [id, owner] = [`row_${from + index}`, `owner_${(from + index) % 10}`];
        await Promise.all([
          store.journal.create({ id, owner, thread: "t" }, [entry(1)], thisHolder()),
          store.records.put({ kind: "thing", id, owner, body: {} }),
        ]);
      }),
    );
  await assertReadWhole(store, NEWEST);
  await store.close();
});
