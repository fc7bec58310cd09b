import type { Budget, FilePart, ReasoningEffort } from "@vidro/core";

/** Options of a run besides its task. */
export interface RunOptions {
  /** Images for a model that takes them, and PDFs, whose text becomes a part of the task. */
  readonly files?: readonly FilePart[];
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
  /** The model, or several with commas, each tried when the one before fails; the agent's by default. */
  readonly model?: string;
  /** How long the model thinks before it replies; the vendor's default when left out. */
  readonly effort?: ReasoningEffort;
  readonly budget?: Partial<Budget>;
  /** Idempotency key: the same key gives the same run. Generated when absent. */
  readonly key?: string;
  /** Stops requests and following; the run itself goes on until it is aborted. */
  readonly signal?: AbortSignal;
}
