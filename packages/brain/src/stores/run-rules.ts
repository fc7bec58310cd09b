import { Fault, isSameProcess, RUN_LIMITS } from "@vidro/core";
import type { Entry, Event, EventType, Journal, LeaseHolder, RunStatus } from "@vidro/core";
import { mayLive } from "./lease-holder.ts";

/*
 * Rules for runs that all stores share: the status after an event, what may be appended, which lease holds.
 */

/** Which runs are listed. */
export type RunFilter = Parameters<Journal["list"]>[0];

/** The lease on a run: its holder and its end; no holder once it was released. */
export interface Term {
  readonly holder: LeaseHolder | undefined;
  readonly until: number;
}

/** Whether a run has not ended. */
export function isOpen(status: RunStatus): boolean {
  return status === "running" || status === "asking";
}

/** Status of a run after one more event. */
export function statusAfter(status: RunStatus, event: Event): RunStatus {
  return STATUS_AFTER[event.type] ?? status;
}

const STATUS_AFTER: { readonly [type in EventType]?: RunStatus } = {
  "run.started": "running",
  "question.asked": "asking",
  "question.answered": "running",
  // The hand reported the outcome of an action that a person was asked about.
  "action.finished": "running",
  "action.failed": "running",
  "run.finished": "finished",
  "run.failed": "failed",
  "run.aborted": "aborted",
};

/** Head of a run after further entries; CONFLICT when their `seq` does not follow. */
export function advance(
  run: string,
  from: { readonly seq: number; readonly status: RunStatus },
  entries: readonly Entry[],
): RunStatus {
  let { seq, status } = from;
  for (const entry of entries) {
    if (!isOpen(status)) {
      throw new Fault("CONFLICT", `Run ${run} has ended (${status}); nothing can be added to it.`);
    }
    seq += 1;
    if (entry.seq !== seq) {
      throw new Fault("CONFLICT", `Run ${run} goes on with entry ${seq}, not ${entry.seq}; read it again.`);
    }
    status = statusAfter(status, entry.event);
  }
  return status;
}

/** The first entry of a run and its task; CONFLICT when there is no entry. */
export function openingOf(run: string, entries: readonly Entry[]): { readonly first: Entry; readonly task: string } {
  const [first] = entries;
  if (first === undefined) throw new Fault("CONFLICT", `Run ${run} cannot begin without an entry.`);
  return { first, task: first.event.type === "run.started" ? first.event.task : "" };
}

/** End of a lease that is given or renewed now. */
export function termEnd(now: number): number {
  return now + RUN_LIMITS.leaseMs;
}

/** Refuses with RUN_BUSY while another process drives the run. */
export function refuseUnlessFree(
  run: string,
  term: Term,
  { asker, now }: { readonly asker: LeaseHolder; readonly now: number },
): void {
  const { holder, until } = term;
  if (holder === undefined || until <= now || isSameProcess(holder, asker) || !mayLive(holder)) return;
  throw new Fault("RUN_BUSY", `Process ${holder.pid} on ${holder.host} is driving run ${run}.`);
}

/** Whether no living process drives a run under this term. */
export function isUndriven({ holder, until }: Term, now: number): boolean {
  return holder === undefined || until <= now || !mayLive(holder);
}

/** The fault for an append under a lease that a higher epoch ended. */
export function leaseLost(run: string): Fault {
  return new Fault("LEASE_LOST", `The lease on run ${run} has ended: another brain drives it, or it was given back.`);
}

/** The fault for a new run under an id that exists. */
export function idTaken(run: string): Fault {
  return new Fault("CONFLICT", `There is a run ${run} already; use a new id.`);
}

/** The fault for a run that does not exist. */
export function noSuchRun(run: string): Fault {
  return new Fault("NOT_FOUND", `There is no run ${run}.`);
}
