import type { ActionFate } from "./run-fate.ts";

/** The state of a step: how its action ended, or that it is under way or still to come. */
type StepState = ActionFate | "now" | "later";

/**
 * A plan while it is carried out: each action is that of the next step, and marks it by how it ended. Further actions
 * belong to the last step, which is ticked only when the run has its answer; the answer itself is the last step of a
 * plan in which all others had their action. Steps that no action reached stay open: nothing shows that they were done.
 */
export class Checklist {
  #steps: readonly string[] = [];
  #fates: ActionFate[] = [];
  #hasEnded = false;

  /** Begins a new plan. */
  begin(steps: readonly string[]): void {
    this.#steps = steps;
    this.#fates = [];
  }

  /** An action ended. */
  take(fate: ActionFate): void {
    this.#fates = [...this.#fates.slice(0, Math.max(0, this.#steps.length - 1)), fate].slice(0, this.#steps.length);
  }

  /** The run has its answer; `isTold` when its last action looked for what is not there, which the answer says. */
  finish(isTold = false): void {
    const hasLast = this.#fates.length === this.#steps.length;
    if (this.#fates.length === this.#steps.length - 1 || (isTold && hasLast && this.#fates.at(-1) === "failed"))
      this.take("done");
    this.#hasEnded = true;
  }

  /** The state of each step; at most `most` steps, around the current one. */
  rows(most: number): readonly { readonly step: string; readonly state: StepState }[] {
    const first = Math.max(0, Math.min(this.#current - Math.floor(most / 2), this.#steps.length - most));
    return this.#steps.slice(first, first + most).map((step, index) => ({ step, state: this.#stateAt(first + index) }));
  }

  get #current(): number {
    return Math.min(this.#fates.length, this.#steps.length - 1);
  }

  #stateAt(place: number): StepState {
    const fate = this.#fates[place];
    if (this.#hasEnded) return fate ?? "later";
    if (place === this.#current && (fate === undefined || fate === "done")) return "now";
    return fate ?? "later";
  }
}
