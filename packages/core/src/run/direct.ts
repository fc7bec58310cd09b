/** The agent and the model that carry out one command and decide nothing. */
export const DIRECT = "direct";

/** A task for them: exactly these words, whatever is in them. */
export function directTask(argv: readonly string[]): string {
  return JSON.stringify(argv);
}
