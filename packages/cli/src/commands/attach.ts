import { Fault } from "@vidro/core";
import { findRun, lastRun } from "../find-run.ts";
import { showRun } from "../show.ts";
import type { ShowFlags } from "../show.ts";
import { withBrain } from "../with-brain.ts";

/** What `vidro attach` may be told. */
export interface AttachFlags extends ShowFlags {
  readonly last?: boolean;
  readonly after?: number;
}

/** Shows a run from its first entry, or after a cursor, to its end; one that nobody drives goes on. */
export async function attach(given: string | undefined, flags: AttachFlags): Promise<number> {
  if ((given === undefined) === (flags.last !== true)) {
    throw new Fault("BAD_REQUEST", "Say which run: vidro attach <run>, or vidro attach --last.");
  }
  return withBrain(async (brain) => {
    const { id } = given === undefined ? await lastRun(brain.runs) : await findRun(brain.runs, given);
    return showRun(brain, { id, after: flags.after ?? 0 }, flags);
  });
}
