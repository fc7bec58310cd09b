import assert from "node:assert/strict";
import { writeSync } from "node:fs";
import { thisHolder } from "./lease-holder.ts";
import { begin, entry, sqliteJournalAt } from "./journal.fixture.ts";

// Says who it is, then appends to a run, saying each seq once it is acknowledged, until it is killed.
const [path, run] = process.argv.slice(2);
assert.ok(path !== undefined && run !== undefined);
writeSync(1, `${JSON.stringify(thisHolder())}\n`);
const journal = await sqliteJournalAt(path);
const found = await journal.head(run);
const lease = found === undefined ? await begin(journal, run) : await journal.lease(run, thisHolder());
for (let seq = (found?.seq ?? 1) + 1; ; seq += 2) {
  await journal.append(lease, [entry(seq), entry(seq + 1)]);
  writeSync(1, `${seq + 1}\n`);
}
