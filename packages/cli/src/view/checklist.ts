/** A plan while it is carried out: each action that succeeds ticks a step, the end of the run ticks the last. */
export class Checklist {
  #steps: readonly string[] = [];
  #done = 0;

  /** Begins a new plan. */
  begin(steps: readonly string[]): void {
    this.#steps = steps;
    this.#done = 0;
  }

  /** An action succeeded. The last step stays open: only the end of the run says that it is done. */
  tick(): void {
    this.#done = Math.min(this.#done + 1, Math.max(0, this.#steps.length - 1));
  }

  /** The run finished. */
  finish(): void {
    this.#done = this.#steps.length;
  }

  /** The state of each step; at most `most` steps, around the current one. */
  rows(most: number): readonly { readonly step: string; readonly state: "done" | "now" | "later" }[] {
    const first = Math.max(0, Math.min(this.#done - Math.floor(most / 2), this.#steps.length - most));
    return this.#steps.slice(first, first + most).map((step, index) => {
      const place = first + index;
      if (place < this.#done) return { step, state: "done" };
      return { step, state: place === this.#done ? "now" : "later" };
    });
  }
}
