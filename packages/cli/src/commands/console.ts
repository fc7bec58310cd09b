import type { BrainFlags } from "../brain-api/brain-address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { print } from "../program/output.ts";

/** Prints the address of the daemon's web console, with a code that signs one browser in. */
export async function printConsoleAddress(flags: BrainFlags): Promise<number> {
  print(await withBrainApi(flags, (api) => api.consoleLink()));
  return EXIT.ok;
}
