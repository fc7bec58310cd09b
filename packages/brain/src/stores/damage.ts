import { STORE_LIMITS } from "@vidro/core";

/** A run whose journal cannot be read, and why. */
export interface DamagedRun {
  /** Its id; its number in the table of runs where even that cannot be read. */
  readonly run: string;
  readonly reason: string;
}

/** The damaged runs that a process has come across since it opened the store. */
export class Damage {
  readonly #runs = new Map<string, string>();

  /** Remembers a run that cannot be read; the first reason stays. */
  note(run: string, reason: string): void {
    if (this.#runs.has(run) || this.#runs.size >= STORE_LIMITS.damagedRuns) return;
    this.#runs.set(run, reason);
  }

  /** The damaged runs, in the order in which they were found. */
  list(): readonly DamagedRun[] {
    return Array.from(this.#runs, ([run, reason]) => ({ run, reason }));
  }
}
