import { Fault, FOLLOW_LIMITS, REVIEW_LIMITS } from "@vidro/core";
import { isNarrowestFor } from "@vidro/core/policy";
import type { Entry, JsonObject, QuestionAsked } from "@vidro/core";
import type { Runs } from "./runs.ts";

/* What "always" would mean for an open question, shown before a person says it. */

/** An earlier action that a rule would have allowed without a question. */
interface PastAction {
  readonly run: string;
  /** The entry that asked about it. */
  readonly seq: number;
  readonly at: number;
  readonly task: string;
  /** What a person answered; absent when it was not answered. */
  readonly answer?: string;
}

/** The rule that "always" would add, and the earlier actions that it would have allowed. */
interface AlwaysReview {
  readonly question: string;
  readonly hand: string;
  readonly rule: JsonObject;
  /** Newest first, at most the bound. */
  readonly past: readonly PastAction[];
  /** How many there were among the runs that were searched. */
  readonly count: number;
  readonly searchedRuns: number;
}

type Reader = Pick<Runs, "find" | "list" | "read">;

/**
 * The rule that the answer "always" to the open question of a run would add, with the earlier actions of the owner's
 * runs, or of all runs, that it would have allowed. CONFLICT when no such answer can be given.
 */
export async function reviewAlways(runs: Reader, run: string, owner?: string): Promise<AlwaysReview> {
  await runs.find(run, owner);
  const { id, about } = await openApproval(runs, run);
  const { always: rule, hand = "" } = about;
  if (rule === undefined)
    throw new Fault("CONFLICT", `No rule can be added for this plan: the policy of ${hand} is its own, or refuses it.`);
  const past: PastAction[] = [];
  let [searchedRuns, count] = [0, 0];
  for (let after: string | undefined; searchedRuns < REVIEW_LIMITS.searchedRuns;) {
    const page = { limit: REVIEW_LIMITS.pageRuns, ...(owner === undefined ? {} : { owner }) };
    const heads = await runs.list({ ...page, ...(after === undefined ? {} : { after }) });
    for (const head of heads) {
      const found = head.damaged === undefined ? await asksIn(runs, head.id, { rule, hand, besides: id }) : [];
      count += found.length;
      for (const one of found.toReversed())
        if (past.length < REVIEW_LIMITS.shownActions) past.push({ run: head.id, task: head.task, ...one });
    }
    searchedRuns += heads.length;
    after = heads.at(-1)?.id;
    if (heads.length < REVIEW_LIMITS.pageRuns) break;
  }
  return { question: id, hand, rule, past, count, searchedRuns };
}

type ApprovalAsked = QuestionAsked & { readonly about: Extract<QuestionAsked["about"], { kind: "approval" }> };

async function openApproval(runs: Reader, run: string): Promise<ApprovalAsked> {
  let open: QuestionAsked | undefined;
  for await (const { event } of entriesOf(runs, run)) {
    if (event.type === "question.asked") open = event;
    else if (event.type === "question.answered") open = undefined;
  }
  if (open?.about.kind !== "approval") throw new Fault("CONFLICT", `No approval is open in run ${run}.`);
  return { ...open, about: open.about };
}

/** The questions of a run about the plans that a rule would allow, without the one that is open. */
async function asksIn(
  runs: Reader,
  run: string,
  { rule, hand, besides }: { readonly rule: JsonObject; readonly hand: string; readonly besides: string },
): Promise<readonly Omit<PastAction, "run" | "task">[]> {
  const found = new Map<string, Omit<PastAction, "run" | "task">>();
  for await (const { seq, at, event } of entriesOf(runs, run)) {
    if (event.type === "question.answered") {
      const asked = found.get(event.id);
      if (asked !== undefined) found.set(event.id, { ...asked, answer: event.answer });
    }
    if (event.type !== "question.asked" || event.about.kind !== "approval" || event.id === besides) continue;
    const { plan, hand: asked } = event.about;
    if (plan !== undefined && asked === hand && isNarrowestFor(rule, plan)) found.set(event.id, { seq, at });
  }
  return [...found.values()];
}

async function* entriesOf(runs: Reader, run: string): AsyncGenerator<Entry> {
  for (let after = 0; ; after += FOLLOW_LIMITS.batch) {
    const entries = await runs.read(run, after, FOLLOW_LIMITS.batch);
    yield* entries;
    if (entries.length < FOLLOW_LIMITS.batch) return;
  }
}
