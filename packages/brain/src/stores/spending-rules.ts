import { addSpending, DAY_MS, spendingIn } from "@vidro/core";
import type { Entry, UsageTotal } from "@vidro/core";

/** Columns of the sums in a database, by their fields. */
export const SPENDING_COLUMNS = {
  runs: "runs",
  steps: "steps",
  inputTokens: "input",
  outputTokens: "output",
  cachedTokens: "cached",
  cacheWriteTokens: "cache_write",
  thinkingTokens: "thinking",
  unpricedTokens: "unpriced",
  costUsd: "cost",
} as const satisfies { readonly [field in keyof UsageTotal]: string };

/** What entries of one day add to the sums. */
interface DaySpending extends UsageTotal {
  readonly day: string;
  /** Time of the last entry. */
  readonly at: number;
}

/** The day that was asked for last: it is asked for at each step of each run, and seldom changes. */
let lastDay = { number: NaN, name: "" };

/** The day of UTC that a time lies in, as `2026-12-01`. */
export function dayOfTime(at: number): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== lastDay.number) lastDay = { number, name: new Date(at).toISOString().slice(0, "2026-12-01".length) };
  return lastDay.name;
}

/** What entries of a run add to the sums, by their days. */
export function spendingByDay(entries: readonly Entry[]): readonly DaySpending[] {
  const days = new Map<string, DaySpending>();
  for (const { at, event } of entries) {
    const spent = spendingIn(event);
    if (spent === undefined) continue;
    const day = dayOfTime(at);
    const known = days.get(day);
    days.set(day, { ...(known === undefined ? spent : addSpending(known, spent)), day, at });
  }
  return [...days.values()];
}
