import { journalContract } from "./journal.contract.ts";
import { leaseContract } from "./lease.contract.ts";
import { recordsContract } from "./records.contract.ts";
import { STORES } from "./stores.ts";

for (const [name, open] of Object.entries(STORES)) {
  journalContract(name, open);
  leaseContract(name, open);
  recordsContract(name, open);
}
