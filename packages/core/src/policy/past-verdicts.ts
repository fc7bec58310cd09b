import { isTerminal } from "../event.ts";
import type { Entry, PolicyJudged } from "../event.ts";
import { REVIEW_LIMITS } from "../limits.ts";
import type { RunHead } from "../ports.ts";
import type { Plan, Verdict } from "../tool.ts";

/* What a policy says today of the actions of past runs: the plans are in the journals, so that nothing is run. */

/** An action that a policy judges otherwise than it was judged. */
export interface ChangedVerdict {
  readonly run: string;
  readonly seq: number;
  readonly plan: Plan;
  readonly was: Verdict;
  readonly now: Verdict;
}

/** How many past actions were judged, and how many were not: of other hosts, or of folders that are gone. */
export interface PastTally {
  judged: number;
  elsewhere: number;
  homeless: number;
}

/** The runs whose actions are judged. */
export interface PastRuns {
  /** Runs, newest first, from behind the run `after` on. */
  list(filter: { readonly limit: number; readonly after?: string }): Promise<readonly RunHead[]>;
  /** The entries of a run. */
  entries(run: string): AsyncIterable<Entry>;
}

/** What past actions are judged by, and how many runs are read. */
interface PastSearch {
  /** The policy for a workspace; undefined for one that is gone. */
  readonly policyAt: (workspace: string) => { judge(plan: Plan): Verdict } | undefined;
  readonly tally: PastTally;
  readonly limit: number;
}

/** The hand whose plans are about the folders of the brain's own machine. */
const LOCAL = "local";

/** The actions of past runs on the brain's own machine that a policy would decide otherwise; counts all in the tally. */
export async function* changedVerdicts(
  runs: PastRuns,
  { policyAt, tally, limit }: PastSearch,
): AsyncGenerator<ChangedVerdict> {
  let seen = 0;
  for (let after: string | undefined; seen < limit;) {
    const page = Math.min(REVIEW_LIMITS.pageRuns, limit - seen);
    const heads = await runs.list({ limit: page, ...(after === undefined ? {} : { after }) });
    for (const { id, damaged } of heads) {
      if (damaged !== undefined) continue;
      let policy: ReturnType<typeof policyAt>;
      let isHere = false;
      for await (const { seq, event } of runs.entries(id)) {
        if (event.type === "run.started") {
          isHere = event.hand === LOCAL;
          policy = isHere ? policyAt(event.workspace) : undefined;
        }
        if (isTerminal(event)) break;
        if (event.type !== "policy.judged" || event.plan.kind === "order") continue;
        if (policy === undefined) {
          if (isHere) tally.homeless += 1;
          else tally.elsewhere += 1;
          continue;
        }
        tally.judged += 1;
        const now = verdictNow(event, policy);
        if (now.decision !== event.verdict.decision) yield { run: id, seq, plan: event.plan, was: event.verdict, now };
      }
    }
    seen += heads.length;
    after = heads.at(-1)?.id;
    if (heads.length < page) return;
  }
}

/** The verdict now; a program counts as held by a sandbox, as its hand would hold it where policy allows it. */
function verdictNow({ plan }: PolicyJudged, policy: { judge(plan: Plan): Verdict }): Verdict {
  if (plan.kind !== "process") return policy.judge(plan);
  const held = policy.judge({ ...plan, confined: plan.confined ?? "files" });
  return held.decision === "allow" ? held : policy.judge(plan);
}
