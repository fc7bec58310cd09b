import { asFault, Fault, FOLLOW_LIMITS } from "@vidro/core";
import type { Entry, Journal } from "@vidro/core";
import { fold } from "@vidro/core/run";
import type { RunState } from "@vidro/core/run";

/** The fold of the whole journal of a run. */
export async function readState(journal: Journal, run: string): Promise<RunState> {
  let state: RunState | undefined;
  for (;;) {
    const entries = await journal.read(run, state?.seq ?? 0, FOLLOW_LIMITS.batch);
    state = foldEntries(run, entries, state);
    if (entries.length < FOLLOW_LIMITS.batch) break;
  }
  if (state === undefined) throw new Fault("JOURNAL_CORRUPT", `Run ${run} has no entries.`);
  return state;
}

/** Folds entries; JOURNAL_CORRUPT for an entry with the type of an event and not its shape. */
function foldEntries(run: string, entries: readonly Entry[], from: RunState | undefined): RunState | undefined {
  try {
    return fold(entries, from);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const message = `The journal of run ${run} has an entry that lacks a part: ${asFault(thrown).message}`;
    throw new Fault("JOURNAL_CORRUPT", message, { cause: thrown });
  }
}
