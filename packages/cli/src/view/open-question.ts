import type { BrainRuns } from "../brain-api/brain-api.ts";

/** Whether a question, by the number of its entry, is still open: nothing but remarks came after it. */
export async function isUnanswered(
  runs: Pick<BrainRuns, "find" | "entries">,
  run: string,
  seq: number,
): Promise<boolean> {
  const head = await runs.find(run);
  if (head.seq === seq || head.status !== "asking") return head.seq === seq;
  for await (const later of runs.entries(run)) if (later.seq > seq && later.event.type !== "remark.made") return false;
  return true;
}
