import type { Event, Usage } from "./event.ts";
import { usageIn } from "./usage.ts";

/** What models used and cost in all runs of a day or a thread. */
export interface UsageTotal extends Required<Usage> {
  /** Runs that called a model. */
  readonly runs: number;
  readonly steps: number;
}

/** The fields of a spending; all of them are sums. */
export const SPENDING_FIELDS = [
  "runs",
  "steps",
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "thinkingTokens",
  "unpricedTokens",
  "costUsd",
] as const satisfies readonly (keyof UsageTotal)[];

/** Nothing was used. */
export const NO_SPENDING: UsageTotal = {
  runs: 0,
  steps: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  thinkingTokens: 0,
  unpricedTokens: 0,
  costUsd: 0,
};

/** What one event adds to the sums; undefined for an event that adds nothing. */
export function spendingIn(event: Event): UsageTotal | undefined {
  if (event.type === "model.called")
    return event.step === 1 && event.attempt === 1 && event.summary !== true ? { ...NO_SPENDING, runs: 1 } : undefined;
  const usage = usageIn(event);
  return usage && { ...NO_SPENDING, ...usage, steps: event.type === "model.replied" ? 1 : 0 };
}

/** The sum of two spendings. */
export function addSpending(one: UsageTotal, other: UsageTotal): UsageTotal {
  const sum = { ...NO_SPENDING };
  for (const field of SPENDING_FIELDS) sum[field] = one[field] + other[field];
  return sum;
}
