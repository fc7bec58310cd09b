import type { Usage } from "../event.ts";
import type { HelperUse } from "../parent-link.ts";

/** The used part of a run's budget. */
export interface UsedBudget {
  readonly steps: number;
  readonly actions: number;
  readonly tokens: number;
  /** US dollars, as far as prices are known. */
  readonly costUsd: number;
  readonly workMs: number;
}

/** The used part after a call of the model. */
export function usedAfter(used: UsedBudget, { inputTokens, outputTokens, costUsd = 0 }: Usage): UsedBudget {
  return { ...used, tokens: used.tokens + inputTokens + outputTokens, costUsd: used.costUsd + costUsd };
}

/**
 * The used part after an action; helpers that it started count as the run's own calls do. What is no amount counts as
 * nothing, since the end of an action may come from a hand.
 */
export function usedWithHelpers(used: UsedBudget, helpers: HelperUse | undefined): { readonly used?: UsedBudget } {
  if (helpers === undefined) return {};
  const { tokens, costUsd } = helpers;
  return { used: { ...used, tokens: used.tokens + amount(tokens), costUsd: used.costUsd + amount(costUsd) } };
}

function amount(value: unknown): number {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : 0;
}
