import type { BrainFlags } from "../brain-api/brain-address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { print } from "../program/output.ts";

/** Prints the address of the daemon's web console. */
export async function printConsoleAddress(flags: BrainFlags): Promise<number> {
  print(`${await withBrainApi(flags, (api) => api.address())}/`);
  return EXIT.ok;
}
