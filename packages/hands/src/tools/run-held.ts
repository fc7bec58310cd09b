import { Fault, HAND_LIMITS } from "@vidro/core";
import type { Confinement, Plan, ProcessOutcome } from "@vidro/core";
import { cellStart, runUntilGone } from "../exec/process.ts";
import type { StartProgram } from "../exec/process.ts";
import { scopeOf, type HandContext, type LaunchContext, type ToolExecution } from "./tool.ts";

/** A command that runs in the sandbox. */
interface HeldLaunch {
  /** The program, as an absolute path, and its arguments. */
  readonly line: readonly string[];
  readonly confined: Confinement;
  readonly cwd: string;
  readonly timeoutMs: number;
}

/** How the sandbox holds a plan; undefined for a plan that runs outside of it. */
export function planConfinement(plan: Plan): Confinement | undefined {
  if (plan.kind === "process") return plan.confined;
  if (plan.kind !== "shell" || !plan.sandboxed) return undefined;
  return plan.access === "read" ? "files" : "workspace";
}

/** Sets a sandbox up for a command that is about to run; a failure is left to the command. */
export async function warmSandbox(confined: Confinement, context: HandContext): Promise<void> {
  try {
    await (await context.sandbox())?.warm(scopeOf(context, confined));
  } catch {
    // The command finds the same failure and reports it.
  }
}

/** How a command starts in a sandbox of its own; rejects with PLAN_CHANGED if this host has no sandbox any more. */
export async function heldStart(
  { line, confined, cwd }: Omit<HeldLaunch, "timeoutMs">,
  context: LaunchContext,
): Promise<StartProgram> {
  const sandbox = await context.sandbox();
  if (sandbox === undefined) throw new Fault("PLAN_CHANGED", "The sandbox that was to hold this command is gone.");
  const cell = await sandbox.hold(scopeOf(context, confined));
  const memoryBytes = Math.min(HAND_LIMITS.memoryBytes, context.memoryBytes());
  return cellStart(cell, { line, cwd, memoryBytes });
}

/** Runs a command in a sandbox of its own. */
export async function runHeld({ timeoutMs, ...launch }: HeldLaunch, execution: ToolExecution): Promise<ProcessOutcome> {
  return runUntilGone({ start: await heldStart(launch, execution.context), timeoutMs }, execution);
}
