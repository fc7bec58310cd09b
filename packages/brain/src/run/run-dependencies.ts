import type { Hand, Journal, LiveBus, Model, RunStarted } from "@vidro/core";
import type { Redactor } from "@vidro/core/redact";
import type { KeptTools } from "../catalog/kept-tools.ts";
import type { ReadSharedCosts } from "./shared-costs.ts";

/** The places of runs in traces. */
export interface RunTraces {
  /** Whether a text that a client sent is a `traceparent`. */
  readonly isTrace: (text: string) => boolean;
  /** The `traceparent` of a span of a run, for the process that does the work. */
  readonly traceparent: (run: string, started: RunStarted, key: string) => string;
}

/** Dependencies of the loop of one run. */
export interface RunDependencies {
  readonly journal: Journal;
  readonly model: Model;
  readonly hand: Hand;
  readonly live: LiveBus;
  /** Removes secrets from everything before it is journaled or published. */
  readonly redactor: Redactor;
  readonly now: () => number;
  readonly chance: () => number;
  /** Reads bounded costs that runs share; without it only a run's own costs are bounded. */
  readonly sharedCosts?: ReadSharedCosts;
  /** Approved tools of threads; without it a proposed tool lives in its run only. */
  readonly keptTools?: Pick<KeptTools, "of">;
  /** Generation of the journal's store; the first without it. */
  readonly generation?: number;
  /** Traces of runs; absent where none are asked for. */
  readonly traces?: RunTraces;
  readonly newActionId: () => string;
  /** Gets bugs of Vidro with their stacks; the run records only the trace id. */
  readonly report: (traceId: string, thrown: unknown) => void;
}
