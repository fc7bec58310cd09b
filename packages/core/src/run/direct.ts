import type { JsonObject } from "../json.ts";

/** Name of the agent and the model that run one given command without any decision. */
export const DIRECT = "direct";

/** The task of a direct run: the argv as JSON. */
export function directTask(argv: readonly string[]): string {
  return JSON.stringify(argv);
}

/** The task of a direct run that calls one tool. */
export function directToolTask(tool: string, input: JsonObject): string {
  return JSON.stringify({ tool, input });
}
