import { CONSOLE_LIMITS, Fault } from "@vidro/core";
import type { Action, QuestionAsked, RunHead, Verdict } from "@vidro/core";
import type { Runs } from "../run/runs.ts";

/** An open question with the action that it is about, and what policy said of it. */
export interface QuestionWithPlan {
  readonly question: QuestionAsked;
  readonly askedAt: number;
  readonly action?: Action;
  readonly verdict?: Verdict;
}

/** The open question of a run, from the last entries of its journal; CONFLICT when there is none. */
export async function findOpenQuestion(runs: Pick<Runs, "read">, { id, seq }: RunHead): Promise<QuestionWithPlan> {
  const after = Math.max(0, seq - CONSOLE_LIMITS.entriesBeforeQuestion);
  let open: QuestionWithPlan | undefined;
  let action: Action | undefined;
  let verdict: Verdict | undefined;
  for (const { at, event } of await runs.read(id, after, CONSOLE_LIMITS.entriesBeforeQuestion * 2)) {
    if (event.type === "model.replied") [action, verdict] = [event.action, undefined];
    if (event.type === "policy.judged") ({ verdict } = event);
    if (event.type === "question.answered" || event.type.startsWith("run.")) open = undefined;
    if (event.type === "question.asked")
      open = {
        question: event,
        askedAt: at,
        ...(action === undefined ? {} : { action }),
        ...(verdict === undefined ? {} : { verdict }),
      };
  }
  if (open === undefined) throw new Fault("CONFLICT", "No question is open in this run.");
  return open;
}
