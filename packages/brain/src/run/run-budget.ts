import { Fault, RUN_LIMITS } from "@vidro/core";
import type { Budget } from "@vidro/core";

/** The budget of a run: what was asked for, and the usual bounds of all else. */
export function runBudget(asked: Partial<Budget> = {}): Budget {
  const { steps, actions, tokens, wallMs } = RUN_LIMITS;
  return { steps, actions, tokens, wallMs, ...asked };
}

/** The fault of a bound on costs that cannot be kept. */
export function unpricedModel(name: string): Fault {
  return new Fault("MODEL_UNPRICED", `The price of ${name} is not known, so that a bound on costs cannot be kept.`);
}
