import { Fault, HAND_LIMITS, type ActionEnd, type Outcome, type Plan } from "@vidro/core";
import type { HandTool } from "../tools/tool.ts";

/** A tool at work on a plan. */
interface DeadlineOptions {
  readonly tool: Pick<HandTool, "name" | "idempotent">;
  readonly plan: Plan;
  /** Aborted when the work is to end. */
  readonly signal: AbortSignal;
  /** From the end of the plan's time to giving the tool up. */
  readonly overdueMs: number;
}

/**
 * Waits for a tool, which is told to end when its time and some more are over. One that does not end even then is given
 * up: its outcome is unknown, or a failure where running it again does no harm. Throws what the tool throws.
 */
export async function runWithDeadline(
  run: (signal: AbortSignal) => Promise<Outcome>,
  running: DeadlineOptions,
): Promise<ActionEnd> {
  const { tool, plan, signal, overdueMs } = running;
  const late = new AbortController();
  const { promise: overdue, resolve } = Promise.withResolvers<ActionEnd>();
  const timer = setTimeout(
    () => {
      late.abort();
      resolve(overdueEnd(tool));
    },
    planTimeMs(plan) + overdueMs,
  );
  try {
    const ran = run(AbortSignal.any([signal, late.signal])).then((outcome): ActionEnd => ({
      type: "finished",
      outcome,
    }));
    return await Promise.race([ran, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long a plan may take by itself. */
function planTimeMs(plan: Plan): number {
  return plan.kind === "process" || plan.kind === "shell" ? plan.timeoutMs : HAND_LIMITS.commandMs;
}

function overdueEnd({ name, idempotent }: DeadlineOptions["tool"]): ActionEnd {
  const why = `The tool ${name} did not end in its time, nor when it was told to.`;
  if (idempotent) return { type: "failed", fault: new Fault("TOOL_FAILED", why).report(), settled: true };
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
}
