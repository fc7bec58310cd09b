import type { BrainFlags } from "../brain-api/address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { signedHands } from "../brain-api/signed-hand-api.ts";
import { say, sayJson } from "../program/tell.ts";

/** Gives a hand its next key. */
export async function rotateKey(named: string, flags: BrainFlags & { readonly json?: boolean }): Promise<number> {
  const { id, keyId } = await (await signedHands(flags)).rotateKey(named);
  if (flags.json === true) sayJson({ id, key_id: keyId });
  else say(`The next key of ${named} is ${keyId}. The old one ends a day after its first use.`);
  return EXIT.ok;
}
