import { addUsage, HOUR_MS, TERMINAL_LIMITS, usageIn } from "@vidro/core";
import type { RunHead, Usage } from "@vidro/core";
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
interface UsageSum {
  readonly key: string;
  readonly title: string;
  readonly runs: ReadonlySet<string>;
  readonly steps: number;
  readonly usage: Usage;
}

const NONE: Usage = { inputTokens: 0, outputTokens: 0 };
const TITLE_CHARS = 50;
const DAYS = 30;

/** Prints what models used and cost, by day, thread or run, from the journals of the newest runs. */
export async function printUsage(
  flags: BrainFlags & { readonly by: UsageGroup; readonly days?: number; readonly json?: boolean },
): Promise<number> {
  const { by, days = DAYS } = flags;
  return withBrainApi(flags, async ({ runs }) => {
    const since = Date.now() - days * 24 * HOUR_MS;
    const sums = new Map<string, UsageSum>();
    for await (const head of recentRuns(runs, since)) await addRun(sums, { runs, head, by, since });
    // Runs come newest first, and so do their threads; the entries of a run may be of several days.
    const rows = [...sums.values()];
    if (by === "day") rows.sort((one, other) => other.key.localeCompare(one.key));
    for (const row of rows) {
      if (flags.json === true) writeJson(lineOf(row, by));
      else
        print(
          `${paint("bold", row.title)}  ${countWords(row.runs.size, "run")} · ${countWords(row.steps, "step")} · ${usageWords(row.usage)}`,
        );
    }
    if (rows.length === 0 && flags.json !== true) say(`No run of the last ${countWords(days, "day")} called a model.`);
    return EXIT.ok;
  });
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

async function addRun(
  sums: Map<string, UsageSum>,
  { runs, head, by, since }: { runs: BrainRuns; head: RunHead; by: UsageGroup; since: number },
): Promise<void> {
  for await (const { at, event } of runs.entries(head.id)) {
    const usage = usageIn(event);
    if (usage === undefined || at < since) continue;
    const { key, title } = groupOf(by, head, at);
    const before = sums.get(key) ?? { key, title, runs: new Set<string>(), steps: 0, usage: NONE };
    const steps = before.steps + (event.type === "model.replied" ? 1 : 0);
    sums.set(key, { ...before, runs: new Set([...before.runs, head.id]), steps, usage: addUsage(before.usage, usage) });
  }
}

function groupOf(
  by: UsageGroup,
  { id, thread, task }: RunHead,
  at: number,
): { readonly key: string; readonly title: string } {
  if (by === "day") {
    const day = new Date(at).toISOString().slice(0, "2026-12-01".length);
    return { key: day, title: day };
  }
  const key = by === "run" ? id : thread;
  return { key, title: `${key.slice(-SHORT_ID_CHARS)}  ${oneLine(task, TITLE_CHARS).padEnd(TITLE_CHARS)}` };
}

function lineOf({ key, runs, steps, usage }: UsageSum, by: UsageGroup) {
  return {
    [by]: key,
    runs: runs.size,
    steps,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens ?? 0,
    thinking_tokens: usage.thinkingTokens ?? 0,
    cost_usd: usage.costUsd ?? 0,
  };
}
