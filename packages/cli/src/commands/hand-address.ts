import type { BrainFlags } from "../brain-api/address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { say, sayJson } from "../program/tell.ts";
import { signedHands } from "../brain-api/signed-hand-api.ts";

/** Lets a hand that listens be called at an address, or without one at none. */
export async function address(
  named: string,
  url: string | undefined,
  flags: BrainFlags & { readonly json?: boolean },
): Promise<number> {
  const hands = await signedHands(flags);
  const allowed = await hands.allowAddress(named, url ?? null);
  if (flags.json === true) sayJson({ id: allowed.id, url: allowed.url });
  else if (allowed.url === null) say(`${named} is not called any more; it asks what is to be done.`);
  else say(`${named} may be called at ${allowed.url}, from its next hello on.`);
  return EXIT.ok;
}
