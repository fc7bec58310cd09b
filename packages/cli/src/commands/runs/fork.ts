import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { findRun } from "../../brain-api/find-run.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { readTask } from "../../program/read-task.ts";
import { sayBrain, showRun } from "../../view/show-run.ts";
import type { ShowFlags } from "../../view/show-run.ts";

/** Flags of `vidro runs fork`. */
interface ForkFlags extends ShowFlags, BrainFlags {
  readonly at?: number;
  readonly model?: string;
}

/** Starts a run with the prompt of another one up to an entry, and shows it to its end. */
export async function forkRunAt(given: string, words: readonly string[], flags: ForkFlags): Promise<number> {
  const text = words.length === 0 ? undefined : await readTask(words);
  return withBrainApi(flags, async (brain) => {
    const { runs } = brain;
    sayBrain(brain, flags);
    const { id } = await findRun(runs, given);
    const fork = await runs.fork(id, {
      ...(flags.at === undefined ? {} : { at: flags.at }),
      ...(text === undefined ? {} : { text }),
      ...(flags.model === undefined ? {} : { model: flags.model }),
    });
    return showRun(runs, { id: fork.id, after: 0 }, flags);
  });
}
