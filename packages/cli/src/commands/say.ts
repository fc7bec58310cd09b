import { randomUUIDv7 } from "node:crypto";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { findRun } from "../brain-api/find-run.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { say } from "../program/output.ts";
import { readTask } from "../program/read-task.ts";
import { userName } from "../view/questions.ts";

/** Says something to a run at work; the words are on record when this resolves. */
export async function sayToRun(
  given: string,
  words: readonly string[],
  flags: BrainFlags & { readonly key?: string },
): Promise<number> {
  const text = await readTask(words);
  return withBrainApi(flags, async ({ runs }) => {
    const { id } = await findRun(runs, given);
    await runs.say(id, { id: flags.key ?? randomUUIDv7(), text, by: userName() });
    say(`On record: the model of ${id} is told with its next step.`);
    return EXIT.ok;
  });
}
