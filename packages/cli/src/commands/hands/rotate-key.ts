import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { say, writeJson } from "../../program/output.ts";

/** Gives a hand its next key. */
export async function rotateKey(named: string, flags: BrainFlags & { readonly json?: boolean }): Promise<number> {
  const { id, keyId } = await withBrainApi(flags, ({ hands }) => hands.rotateKey(named));
  if (flags.json === true) writeJson({ id, key_id: keyId });
  else say(`The next key of ${named} is ${keyId}. The old one ends a day after its first use.`);
  return EXIT.ok;
}
