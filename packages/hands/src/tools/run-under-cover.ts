import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Fault } from "@vidro/core";
import type { ProcessOutcome, StateAccess } from "@vidro/core";
import { runProcess } from "../exec/process.ts";
import type { ProcessLaunch } from "../exec/process.ts";
import type { HandContext, ToolExecution } from "./tool.ts";

/** A shell that can call a program by another name than its own. */
const NAMING_SHELL = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";

/** Whether a command that runs as the hand's user would see Vidro's own state. */
export async function stateAccessOf(context: HandContext): Promise<StateAccess> {
  return (await context.sandbox())?.cover === undefined ? "open" : "hidden";
}

/** Runs a program as the hand's user under a cover of Vidro's own state; throws PLAN_CHANGED if there is no cover. */
export async function runUnderCover(launch: ProcessLaunch, execution: ToolExecution): Promise<ProcessOutcome> {
  const { context } = execution;
  const sandbox = await context.sandbox();
  if (sandbox?.cover === undefined)
    throw new Fault("PLAN_CHANGED", "The sandbox that was to keep this command from Vidro's own state is gone.");
  const { cwd, env, timeoutMs } = launch;
  const cover = { workspace: context.workspace, reserved: context.reserved(), cwd };
  return runProcess({ ...(await sandbox.cover(commandLineOf(launch), cover)), cwd, env, timeoutMs }, execution);
}

/** The command line with the requested argv[0], for programs that behave differently under different names. */
function commandLineOf({ program, argv: [name = program, ...args] }: ProcessLaunch): readonly string[] {
  if (name === program || name === basename(program)) return [program, ...args];
  return [NAMING_SHELL, "-c", 'exec -a "$0" "$@"', name, program, ...args];
}
