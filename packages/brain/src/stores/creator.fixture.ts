import assert from "node:assert/strict";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { asFault } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { begin, sqliteJournalAt } from "./journal.fixture.ts";

// Says who it is and that its store is open; on the first word that it hears it makes a run, and says how that went.
const [path] = process.argv.slice(2);
assert.ok(path !== undefined);
writeSync(1, `${JSON.stringify(thisHolder())}\n`);
const journal = await sqliteJournalAt(path);
writeSync(1, "ready\n");
await once(process.stdin, "data");
const how = await begin(journal, "a").then(
  () => "made",
  (thrown: unknown) => asFault(thrown).code,
);
writeSync(1, `${how}\n`);
await once(process.stdin, "end");
