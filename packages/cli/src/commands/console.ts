import type { BrainFlags } from "../address.ts";
import { EXIT } from "../exit.ts";
import { brainThatIsUp } from "./status.ts";
import { print } from "../tell.ts";

/** Prints the address of the brain that is up, for a browser. */
export async function openConsole(flags: BrainFlags): Promise<number> {
  print(`${(await brainThatIsUp(flags)).url}/\n`);
  return EXIT.ok;
}
