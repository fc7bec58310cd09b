import assert from "node:assert/strict";
import { writeSync } from "node:fs";
import { thisHolder } from "./lease-holder.ts";
import { sqliteStore } from "./sqlite.ts";

// Says who it is, then counts in a record, saying each version once it is acknowledged, until it is killed.
const [path, id] = process.argv.slice(2);
assert.ok(path !== undefined && id !== undefined);
writeSync(1, `${JSON.stringify(thisHolder())}\n`);
const { records } = await sqliteStore(path);
for (;;) {
  const known = await records.get("count", id);
  const body = { counted: (known?.version ?? 0) + 1 };
  const { version } = await records.put({ kind: "count", id, owner: "me", body }, known?.version ?? 0);
  writeSync(1, `${version}\n`);
}
