import type { Model, RunStarted, SpendingSums } from "@vidro/core";
import type { SharedCost } from "@vidro/core/run";
import { dayOfTime } from "../stores/spending-rules.ts";

/** Bounds in US dollars on what all runs of a thread, and of a day in UTC, cost; unbounded when absent. */
export interface CostBounds {
  readonly threadUsd?: number;
  readonly dayUsd?: number;
}

/** The bounded costs that a run shares with others, as they stand now; none for a model that costs nothing. */
export type ReadSharedCosts = (
  started: Pick<RunStarted, "thread" | "budget">,
  model: Pick<Model, "isFree">,
) => Promise<readonly SharedCost[]>;

/** Reads shared costs from the sums of a store; undefined where nothing bounds them but a run's own budget. */
export function sharedCostsIn(
  spending: Pick<SpendingSums, "sum">,
  bounds: CostBounds,
  now: () => number,
): ReadSharedCosts {
  const costOf = async (of: "thread" | "day", key: string, limitUsd: number | undefined) =>
    limitUsd === undefined ? [] : [{ of, limitUsd, costUsd: (await spending.sum(of, key)).costUsd }];
  return async ({ thread, budget }, { isFree }) => {
    if (isFree === true) return [];
    const limits = [bounds.threadUsd, budget.threadCostUsd].filter((limit) => limit !== undefined);
    const costs = await Promise.all([
      costOf("thread", thread, limits.length === 0 ? undefined : Math.min(...limits)),
      costOf("day", dayOfTime(now()), bounds.dayUsd),
    ]);
    return costs.flat();
  };
}
