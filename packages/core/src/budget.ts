/** How much a run may use. */
export interface Budget {
  readonly steps: number;
  readonly actions: number;
  readonly tokens: number;
  /** Money in US dollars; not bounded when absent. */
  readonly costUsd?: number;
  /** Money in US dollars of all runs of the thread, before each call of the model; not bounded when absent. */
  readonly threadCostUsd?: number;
  /** Time at work; waiting for a person does not count. */
  readonly wallMs: number;
  /** How long a question waits for an answer; after that an empty answer is recorded. */
  readonly answerMs?: number;
}
