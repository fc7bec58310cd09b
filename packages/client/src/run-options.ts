import type { Budget } from "@vidro/core";

/** Options of a run besides its task. */
export interface RunOptions {
  /** An agent's uuid or name; `bunny` when none is named. */
  readonly agent?: string;
  /** Names of the tools that it may use; all of the agent's when left out. */
  readonly tools?: readonly string[];
  /** Id of the conversation that it continues. */
  readonly thread?: string;
  /** Selector of hands: id, name, `tag:web`, `tool:shell`, or several with commas; the brain's machine by default. */
  readonly hand?: string;
  /** Folder of the brain's own machine to work in, which only an administrator may name; the daemon's by default. */
  readonly workspace?: string;
  readonly budget?: Partial<Budget>;
  /** Idempotency key: the same key gives the same run. Generated when absent. */
  readonly key?: string;
  /** Stops requests and following; the run itself goes on until it is aborted. */
  readonly signal?: AbortSignal;
}
