import assert from "node:assert/strict";
import { writeSync } from "node:fs";
import type { NewRecord } from "@vidro/core";
import { entry } from "./journal.fixture.ts";
import { thisHolder } from "./lease-holder.ts";
import { postgresStore } from "./postgres.ts";

// Says who it is, then appends to a run entries with a record beside each, saying each seq, until it is killed.
const [url, run] = process.argv.slice(2);
assert.ok(url !== undefined && run !== undefined);
writeSync(1, `${JSON.stringify(thisHolder())}\n`);
const { journal } = await postgresStore(url);
const about = (seq: number): NewRecord => ({ kind: run, id: String(seq), owner: "me", body: {} });
const { lease } = await journal.create(
  { id: run, owner: "me", thread: "t", beside: [about(1)] },
  [entry(1)],
  thisHolder(),
);
assert.ok(lease);
for (let seq = 2; ; seq += 2) {
  await Promise.all([
    journal.append(lease, [entry(seq)], [about(seq)]),
    journal.append(lease, [entry(seq + 1)], [about(seq + 1)]),
  ]);
  writeSync(1, `${seq + 1}\n`);
}
