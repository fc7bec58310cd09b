import type { FaultReport } from "../fault.ts";
import { dollarWords } from "../text/words.ts";

/** What all runs of a thread or of a day have cost, and may cost, in US dollars. */
export interface SharedCost {
  readonly of: "thread" | "day";
  readonly costUsd: number;
  readonly limitUsd: number;
}

const CODES = { thread: "THREAD_COST_LIMIT", day: "DAY_COST_LIMIT" } as const;
const WHOSE = { thread: "The runs of this conversation", day: "The runs of today (UTC)" } as const;

/** Why the model may not be called: the first of the costs that has reached its limit; undefined when none has. */
export function sharedCostFault(costs: readonly SharedCost[] = []): FaultReport | undefined {
  const reached = costs.find(({ costUsd, limitUsd }) => costUsd >= limitUsd);
  if (reached === undefined) return undefined;
  const { of, costUsd, limitUsd } = reached;
  return { code: CODES[of], message: `${WHOSE[of]} cost ${dollarWords(costUsd)} of at most ${dollarWords(limitUsd)}.` };
}
