/* Helpers: runs that another run has started by the tool `delegate`. */

/** The name of the tool that starts helpers. */
export const DELEGATE = "delegate";

/** The run and the action that a helper works for. */
export interface ParentLink {
  readonly run: string;
  readonly action: string;
  /** The entry of the parent that is the intent of the action. */
  readonly seq: number;
  /** How many runs are above it: 1 for a helper of a run that a person started. */
  readonly depth: number;
}

/** What helpers used of their parent's budget, with the helpers below them. */
export interface HelperUse {
  readonly tokens: number;
  readonly costUsd: number;
}

/** The thread of a run's helpers: they have none of the parent's conversation, and are found by it. */
export function helperThread(parent: string): string {
  return `${HELPERS}${parent}`;
}

/** The run whose helpers have that thread; undefined for other threads. */
export function parentOfThread(thread: string): string | undefined {
  return thread.startsWith(HELPERS) ? thread.slice(HELPERS.length) : undefined;
}

const HELPERS = "helpers_";
