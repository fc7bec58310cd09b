import { addSpending, HOUR_MS, NO_SPENDING, PAGE_LIMITS, spendingIn, TERMINAL_LIMITS } from "@vidro/core";
import type { RunHead, UsageTotal } from "@vidro/core";
import { countWords, oneLine, SHORT_ID_CHARS, usageWords } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainRuns } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { paint } from "../view/symbols.ts";

/** What tokens and money are summed up by. */
type UsageGroup = "day" | "thread" | "run";

/** Tokens and money of a day, a thread or a run. */
interface UsageSum extends UsageTotal {
  readonly key: string;
  readonly title: string;
}

const TITLE_CHARS = 50;
const DAYS = 30;

/** Prints what models used and cost: by day or thread from the brain's sums, by run from the newest journals. */
export async function printUsage(
  flags: BrainFlags & { readonly by: UsageGroup; readonly days?: number; readonly json?: boolean },
): Promise<number> {
  const { by, days = DAYS } = flags;
  return withBrainApi(flags, async ({ runs }) => {
    const since = Date.now() - days * 24 * HOUR_MS;
    const rows = by === "run" ? await sumsOfRuns(runs, since) : await sumsOf(runs, by, since);
    for (const row of rows) {
      if (flags.json === true) writeJson(lineOf(row, by));
      else
        print(
          `${paint("bold", row.title)}  ${countWords(row.runs, "run")} · ${countWords(row.steps, "step")} · ${usageWords(row)}`,
        );
    }
    if (rows.length === 0 && flags.json !== true) say(`No run of the last ${countWords(days, "day")} called a model.`);
    return EXIT.ok;
  });
}

/** The sums of days or threads; rows of several owners are added. */
async function sumsOf(runs: BrainRuns, by: "day" | "thread", since: number): Promise<readonly UsageSum[]> {
  const sums = new Map<string, UsageTotal>();
  for (const row of await runs.usage(by, { since, limit: PAGE_LIMITS.items }))
    sums.set(row.key, addSpending(sums.get(row.key) ?? NO_SPENDING, row));
  // Runs whose model was called and never replied used nothing.
  const used = [...sums].filter(([, { inputTokens, outputTokens, steps }]) => inputTokens + outputTokens + steps > 0);
  const rows = used.map(([key, sum]) => ({ ...sum, key, title: key }));
  if (by === "day") return rows;
  return Promise.all(rows.map(async (row) => ({ ...row, title: titleOf(row.key, await lastTask(runs, row.key)) })));
}

async function lastTask(runs: BrainRuns, thread: string): Promise<string> {
  return (await runs.list({ thread, limit: 1 }))[0]?.task ?? "";
}

async function sumsOfRuns(runs: BrainRuns, since: number): Promise<readonly UsageSum[]> {
  const rows: UsageSum[] = [];
  for await (const head of recentRuns(runs, since)) {
    const { id, task } = head;
    const sum = await sumOfRun(runs, head, since);
    if (sum.steps > 0) rows.push({ ...sum, runs: 1, key: id, title: titleOf(id, task) });
  }
  return rows;
}

/** Runs with an entry since that time, newest first. */
async function* recentRuns(runs: BrainRuns, since: number): AsyncGenerator<RunHead> {
  let after: string | undefined;
  for (let seen = 0; seen < TERMINAL_LIMITS.searchedRuns;) {
    const limit = TERMINAL_LIMITS.listedRuns;
    const heads = await runs.list({ limit, ...(after === undefined ? {} : { after }) });
    for (const head of heads) if (head.updatedAt >= since && head.damaged === undefined) yield head;
    after = heads.at(-1)?.id;
    seen += heads.length;
    // A run that started long before may have worked since; one page of older runs is looked through for such.
    if (heads.length < limit || heads.every(({ updatedAt }) => updatedAt < since)) return;
  }
}

async function sumOfRun(runs: BrainRuns, { id }: RunHead, since: number): Promise<UsageTotal> {
  let sum = NO_SPENDING;
  for await (const { at, event } of runs.entries(id)) {
    const spent = at < since ? undefined : spendingIn(event);
    if (spent !== undefined) sum = addSpending(sum, spent);
  }
  return sum;
}

function titleOf(id: string, task: string): string {
  return `${id.slice(-SHORT_ID_CHARS)}  ${oneLine(task, TITLE_CHARS).padEnd(TITLE_CHARS)}`;
}

function lineOf(sum: UsageSum, by: UsageGroup) {
  return {
    [by]: sum.key,
    runs: sum.runs,
    steps: sum.steps,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cached_tokens: sum.cachedTokens,
    thinking_tokens: sum.thinkingTokens,
    unpriced_tokens: sum.unpricedTokens,
    cost_usd: sum.costUsd,
  };
}
