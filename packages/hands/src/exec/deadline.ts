import { Fault, HAND_LIMITS, type ActionEnd, type Outcome, type Plan } from "@vidro/core";
import type { HandTool } from "../tools/tool.ts";

/** The run that is bounded in time. */
interface DeadlineOptions {
  readonly tool: Pick<HandTool, "name" | "idempotent">;
  readonly plan: Plan;
  /** Aborts the tool. */
  readonly signal: AbortSignal;
  /** Time after the plan's own timeout until the tool is given up. */
  readonly overdueMs: number;
}

/**
 * Waits for a tool and aborts it when its time plus `overdueMs` is over. Its end is then unknown, or a failure if the
 * tool is idempotent, whether or not it stops. Rejects with what the tool throws before that.
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

/** The time that a plan may take. */
function planTimeMs(plan: Plan): number {
  const isAwaited = (plan.kind === "process" || plan.kind === "shell") && plan.background === undefined;
  return isAwaited ? plan.timeoutMs : HAND_LIMITS.commandMs;
}

function overdueEnd({ name, idempotent }: DeadlineOptions["tool"]): ActionEnd {
  const why = `The tool ${name} did not end in its time, nor when it was told to.`;
  if (idempotent) return { type: "failed", fault: new Fault("TOOL_FAILED", why).report(), settled: true };
  return { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", why).report() };
}
