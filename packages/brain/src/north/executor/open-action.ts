import { FOLLOW_LIMITS } from "@vidro/core";
import type { Journal } from "@vidro/core";

/** The action of a run that was started and has no recorded end, as the journal has it. */
export async function openAction(journal: Journal, run: string): Promise<string | undefined> {
  let open: string | undefined;
  for (let after = 0; ;) {
    const entries = await journal.read(run, after, FOLLOW_LIMITS.batch);
    for (const { event } of entries) {
      if (event.type === "action.started") open = event.action.id;
      // An action of unknown outcome stays open until a person has answered what to do about it.
      else if (["action.finished", "action.failed", "question.answered"].includes(event.type)) open = undefined;
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < FOLLOW_LIMITS.batch) return open;
    after = last.seq;
  }
}
