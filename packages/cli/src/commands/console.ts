import type { BrainFlags } from "../brain-api/address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { brainThatIsUp } from "./status.ts";
import { print } from "../program/tell.ts";

/** Prints the address of the brain that is up, for a browser. */
export async function openConsole(flags: BrainFlags): Promise<number> {
  print(`${(await brainThatIsUp(flags)).url}/`);
  return EXIT.ok;
}
