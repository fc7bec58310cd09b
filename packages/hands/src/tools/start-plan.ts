import type { ProcessPlan, ShellPlan } from "@vidro/core";
import { processStart } from "../exec/process.ts";
import type { StartProgram } from "../exec/process.ts";
import type { ProcessLaunch } from "../exec/running-program.ts";
import { SHELL } from "../exec/shell-program.ts";
import { heldStart, planConfinement } from "./run-held.ts";
import { coveredLaunch } from "./run-under-cover.ts";
import type { LaunchContext } from "./tool.ts";

/** How the program of a frozen plan starts: in a sandbox, under a cover of Vidro's own state, or as the hand's user. */
export async function startOfPlan(plan: ProcessPlan | ShellPlan, context: LaunchContext): Promise<StartProgram> {
  const launch = launchOf(plan);
  const confined = planConfinement(plan);
  if (confined !== undefined)
    return heldStart({ line: [launch.program, ...launch.argv.slice(1)], confined, cwd: plan.cwd }, context);
  return processStart(plan.state === "hidden" ? await coveredLaunch(launch, context) : launch);
}

function launchOf(plan: ProcessPlan | ShellPlan): ProcessLaunch {
  const { cwd, env } = plan;
  if (plan.kind === "process") return { program: plan.program, argv: plan.argv, cwd, env };
  return { program: SHELL, argv: [SHELL, "-c", plan.command], cwd, env };
}
