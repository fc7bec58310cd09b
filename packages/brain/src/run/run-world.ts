import type { Hand, Journal, LiveBus, Model } from "@vidro/core";
import type { Redactor } from "@vidro/core/redact";

/** Everything that a drive needs of the world. */
export interface RunWorld {
  readonly journal: Journal;
  readonly model: Model;
  readonly hand: Hand;
  readonly live: LiveBus;
  /** The one choke point: everything passes it before it is journaled or shown. */
  readonly redactor: Redactor;
  readonly now: () => number;
  readonly chance: () => number;
  /** Generation of the journal's store; the first without it. */
  readonly generation?: number;
  readonly newActionId: () => string;
  /** Our own faults go here with their stack; the run gets only the trace id. */
  readonly report: (traceId: string, thrown: unknown) => void;
}
