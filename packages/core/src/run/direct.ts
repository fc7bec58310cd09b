/** Name of the agent and the model that run one given command without any decision. */
export const DIRECT = "direct";

/** The task of a direct run: the argv as JSON. */
export function directTask(argv: readonly string[]): string {
  return JSON.stringify(argv);
}
