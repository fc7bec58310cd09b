import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { say, writeJson } from "../../program/output.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";

/** Lets a hand that listens be called at an address, or without one at none. */
export async function allowHandAddress(
  named: string,
  url: string | undefined,
  flags: BrainFlags & { readonly json?: boolean },
): Promise<number> {
  const allowed = await withBrainApi(flags, ({ hands }) => hands.allowAddress(named, url ?? null));
  if (flags.json === true) writeJson({ id: allowed.id, url: allowed.url });
  else if (allowed.url === null) say(`${named} is not called any more; it asks what is to be done.`);
  else say(`${named} may be called at ${allowed.url}, from its next hello on.`);
  return EXIT.ok;
}
