import type { Budget } from "./event.ts";
import type { FaultReport } from "./fault.ts";
import type { HelperUse } from "./parent-link.ts";
import type { Json } from "./json.ts";
import type { RunStatus } from "./ports.ts";

/** One task of a `delegate` action. */
export interface HelperTask {
  readonly task: string;
  /** Name of the agent; that of the parent when left out. */
  readonly agent?: string;
  /** Names of the parent's tools that the helper may use; all that its agent has when left out. */
  readonly tools?: readonly string[];
  readonly budget?: Partial<Pick<Budget, "steps" | "actions" | "tokens">>;
}

/** How a helper ended, or why it never began. */
export interface HelperEnd {
  readonly run: string;
  readonly status: RunStatus | "unstarted";
  readonly result?: Json;
  /** The answer says that the task was not done. */
  readonly unmet?: true;
  readonly fault?: FaultReport;
  readonly used: HelperUse;
}

/** A `delegate` action: the run and action that it belongs to, and its tasks with the ids of their runs. */
export interface Delegation {
  readonly run: string;
  readonly action: string;
  readonly helpers: readonly (HelperTask & { readonly id: string })[];
  /** Aborted when the run ends early: then its helpers are ended, too; or when the brain stops, which ends none. */
  readonly signal: AbortSignal;
  /** Shows a line beside the action while it is under way. */
  readonly show: (line: string) => void;
}
