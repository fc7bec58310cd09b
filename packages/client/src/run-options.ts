import type { Budget } from "@vidro/core";

/** What a run may be told besides its task. */
export interface RunOptions {
  /** An agent's uuid or name; `bunny` when none is named. */
  readonly agent?: string;
  /** Names of the tools that it may use; all of the agent's when left out. */
  readonly tools?: readonly string[];
  /** The conversation that it goes on with. */
  readonly thread?: string;
  /** Where it works: a hand's id or name, `tag:web`, `tool:shell`, or several with commas; the brain's own machine without it. */
  readonly hand?: string;
  readonly budget?: Partial<Budget>;
  /** The same key gives the same run, however often it is asked for; made up when it is left out. */
  readonly key?: string;
  /** Stops the asking and the watching; the run itself goes on until it is aborted. */
  readonly signal?: AbortSignal;
}
