/**
 * What becomes of the work that met a fault.
 * retry: healing is tried, then the run fails. refuse: the asker is told, nothing is tried.
 * pause: a person decides. bug: ours; the asker gets a trace id and the log gets the stack.
 */
export type Fate = "retry" | "refuse" | "pause" | "bug";

/** How loud a fault is on the surfaces that grade it. */
export type Severity = "low" | "medium" | "high" | "critical";

/** The cells of a fault in the table. */
export type FaultCells = readonly [
  fate: Fate,
  http: number,
  exit: number,
  severity: Severity,
  says: string,
  next: string,
];
