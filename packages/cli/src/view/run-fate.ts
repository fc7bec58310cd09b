import { FAULTS } from "@vidro/core";
import type { ActionClass, Event, FaultCode, FaultReport, TerminalEvent } from "@vidro/core";
import { EXIT } from "../program/exit-codes.ts";
import { faultRow } from "../program/output.ts";

/** How an action ended. */
export type ActionFate = "done" | "failed" | "refused" | "unknown";

/** How an action of that class ended; undefined for other events. */
export function actionFate(event: Event, kind?: ActionClass): ActionFate | undefined {
  switch (event.type) {
    case "action.finished": {
      const hasFailed = event.outcome.kind === "process" && event.outcome.exitCode !== 0;
      return hasFailed && !(foundNothing(event, kind) && event.outcome.stderr.bytes === 0) ? "failed" : "done";
    }
    case "action.failed":
      return isRefusal(event.fault.code) ? "refused" : "failed";
    case "action.unknown":
      return "unknown";
    default:
      return undefined;
  }
}

/** Whether a command that may only look ended with 1: so `which`, `grep` and their kind say that nothing is there. */
export function foundNothing(event: Event, kind: ActionClass | undefined): boolean {
  const isLook = kind === "read" && event.type === "action.finished";
  return isLook && event.outcome.kind === "process" && event.outcome.exitCode === 1;
}

function isRefusal(code: FaultCode): boolean {
  return faultRow(code).exit === FAULTS.POLICY_DENIED.exit;
}

/**
 * Gathers from the entries of a run what its exit code says. An answer alone does not mean that the task was done: its
 * last action may have been refused, may have failed, or may have an outcome that cannot be known.
 */
export class RunFate {
  #class: ActionClass = "read";
  #last: ActionFate = "done";
  readonly #seen = new Set<ActionFate>();
  /** Why the last action that was refused was not done. */
  refusal: FaultReport | undefined;

  take(event: Event): void {
    if (event.type === "policy.judged") this.#class = event.verdict.class;
    if (event.type === "model.replied" && event.action !== undefined) this.#class = "read";
    const fate = actionFate(event);
    if (fate === undefined) return;
    if (event.type === "action.failed" && fate === "refused") this.refusal = event.fault;
    // A command that only looks says by its exit code what it found: grep ends with 1 without a match.
    this.#last = fate === "failed" && this.#class === "read" ? "done" : fate;
    this.#seen.add(fate);
  }

  /** The exit code for the end of the run. */
  exit(end: TerminalEvent): number {
    if (end.type === "run.aborted") return EXIT.aborted;
    if (end.type === "run.failed") return faultRow(end.fault.code).exit;
    const fates = end.unmet === true ? [...this.#seen] : [this.#last];
    if (fates.includes("unknown")) return FAULTS.OUTCOME_UNKNOWN.exit;
    if (fates.includes("refused")) return FAULTS.POLICY_DENIED.exit;
    return end.unmet === true || fates.includes("failed") ? EXIT.failed : EXIT.ok;
  }
}
