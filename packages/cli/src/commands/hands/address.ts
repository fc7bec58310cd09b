import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { say, writeJson } from "../../program/output.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";

/** Allows the brain to call a hand at an address; without one, forbids it. */
export async function allowHandAddress(
  named: string,
  url: string | undefined,
  flags: BrainFlags & { readonly json?: boolean },
): Promise<number> {
  const allowed = await withBrainApi(flags, ({ hands }) => hands.allowAddress(named, url ?? null));
  if (flags.json === true) writeJson({ id: allowed.id, url: allowed.url });
  else if (allowed.url === null) say(`${named} is not called any more; it asks the brain for work.`);
  else say(`${named} may be called at ${allowed.url}, from its next hello on.`);
  return EXIT.ok;
}
