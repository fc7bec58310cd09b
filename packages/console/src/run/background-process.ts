import { isObject, textIn } from "@vidro/core";
import type { Outcome } from "@vidro/core";

/** Tools whose outcome tells how a process in the background stands. */
const TOOLS = new Set(["start_process", "read_output", "write_input", "stop_process"]);

/** How a process in the background stood when a hand told it last. */
export interface BackgroundProcess {
  readonly name: string;
  readonly isRunning: boolean;
  /** It goes on after its run. */
  readonly isKept: boolean;
  readonly exitCode?: number;
  readonly signal?: string;
  /** It ended with its run. */
  readonly isOver?: true;
}

/** The process that an outcome tells of, and the action that started it; undefined for other outcomes. */
export function backgroundProcessIn(
  tool: string,
  outcome: Outcome,
): { readonly startedBy: string; readonly process: BackgroundProcess } | undefined {
  if (!TOOLS.has(tool) || outcome.kind !== "value" || !isObject(outcome.data)) return undefined;
  const { data } = outcome;
  const [startedBy, name, signal] = [textIn(data, "id"), textIn(data, "process"), textIn(data, "signal")];
  if (startedBy === undefined || name === undefined) return undefined;
  const exitCode = data["exit_code"];
  return {
    startedBy,
    process: {
      name,
      isRunning: data["running"] === true,
      isKept: data["keep"] === true,
      ...(typeof exitCode === "number" ? { exitCode } : {}),
      ...(signal === undefined ? {} : { signal }),
    },
  };
}
