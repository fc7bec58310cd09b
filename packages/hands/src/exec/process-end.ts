/** How the first process of a command ended. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Why a command ended. */
export type EndReason = "exit" | "timeout" | "abort" | "memory";
