import { after } from "node:test";
import { hash } from "node:crypto";
import { startPostgres } from "../../../../tests/support/postgres-server.ts";
import { besideContract } from "./beside.contract.ts";
import { journalContract } from "./journal.contract.ts";
import { leaseContract } from "./lease.contract.ts";
import { recordsContract } from "./records.contract.ts";
import { retentionContract } from "./retention.contract.ts";
import { prunedSpendingContract, spendingContract } from "./spending.contract.ts";
import { STORES } from "./stores.ts";
import type { OpenStore } from "./stores.ts";

const server = await startPostgres();
after(() => server.close());

/** Each place has a schema of its own. */
const postgres: OpenStore = (where, options) =>
  STORES.postgres(server.storeUrl(`s_${hash("md5", where, "hex")}`), options);

for (const [name, open] of Object.entries({ ...STORES, postgres })) {
  journalContract(name, open);
  leaseContract(name, open);
  recordsContract(name, open);
  besideContract(name, open);
  spendingContract(name, open);
  if (name === "memory") continue;
  retentionContract(name, open);
  prunedSpendingContract(name, open);
}
