import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Fault } from "@vidro/core";
import type { StateAccess } from "@vidro/core";
import type { ProcessLaunch } from "../exec/running-program.ts";
import type { HandContext, LaunchContext } from "./tool.ts";

/** A shell that can call a program by another name than its own. */
const NAMING_SHELL = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";

/** Whether a command that runs as the hand's user would see Vidro's own state. */
export async function stateAccessOf(context: HandContext): Promise<StateAccess> {
  return (await context.sandbox())?.cover === undefined ? "open" : "hidden";
}

/** The launch of a program under a cover of Vidro's own state; rejects with PLAN_CHANGED if there is no cover. */
export async function coveredLaunch(launch: ProcessLaunch, context: LaunchContext): Promise<ProcessLaunch> {
  const sandbox = await context.sandbox();
  if (sandbox?.cover === undefined)
    throw new Fault("PLAN_CHANGED", "The sandbox that was to keep this command from Vidro's own state is gone.");
  const { cwd, env } = launch;
  const cover = { workspace: context.workspace, reserved: context.reserved(), cwd };
  return { ...(await sandbox.cover(commandLineOf(launch), cover)), cwd, env };
}

/** The command line with the requested argv[0], for programs that behave differently under different names. */
function commandLineOf({ program, argv: [name = program, ...args] }: ProcessLaunch): readonly string[] {
  if (name === program || name === basename(program)) return [program, ...args];
  return [NAMING_SHELL, "-c", 'exec -a "$0" "$@"', name, program, ...args];
}
