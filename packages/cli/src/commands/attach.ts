import { Fault } from "@vidro/core";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { findRun, lastRun } from "../brain-api/find-run.ts";
import { sayBrain, showRun } from "../view/show-run.ts";
import type { ShowFlags } from "../view/show-run.ts";

/** Flags of `vidro attach`. */
interface AttachFlags extends ShowFlags, BrainFlags {
  readonly last?: boolean;
  readonly after?: number;
}

/** Shows a run from its first entry, or after a cursor, to its end; a run without a driver is driven on. */
export async function attach(given: string | undefined, flags: AttachFlags): Promise<number> {
  if ((given === undefined) === (flags.last !== true)) {
    throw new Fault("BAD_REQUEST", "Say which run: vidro attach <run>, or vidro attach --last.");
  }
  return withBrainApi(flags, async (brain) => {
    const { runs } = brain;
    sayBrain({ place: brain.place }, flags);
    const { id } = given === undefined ? await lastRun(runs) : await findRun(runs, given);
    return showRun(runs, { id, after: flags.after ?? 0 }, flags);
  });
}
