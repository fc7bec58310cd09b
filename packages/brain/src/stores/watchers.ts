/** Who wants to be woken when a run grows, with the last `seq` that they were woken for. */
export class Watchers {
  readonly #runs = new Map<string, { seq: number; readonly wakes: Set<() => void> }>();

  /** How many runs are watched. */
  get size(): number {
    return this.#runs.size;
  }

  /** Watches a run that stands at `seq`; returns how to stop. */
  add(run: string, seq: number, wake: () => void): () => void {
    const watched = this.#runs.get(run) ?? { seq, wakes: new Set() };
    this.#runs.set(run, watched);
    // The same function may be given twice, and each stop is to end one watch only.
    const own = (): void => wake();
    watched.wakes.add(own);
    return () => {
      watched.wakes.delete(own);
      if (watched.wakes.size === 0 && this.#runs.get(run) === watched) this.#runs.delete(run);
    };
  }

  /** Wakes those who watch the run if it has grown. Nobody is waited for: wakes run after the caller. */
  tell(run: string, seq: number): void {
    const watched = this.#runs.get(run);
    if (watched === undefined || seq <= watched.seq) return;
    watched.seq = seq;
    for (const wake of watched.wakes) queueMicrotask(wake);
  }

  /** The runs that are watched. */
  runs(): readonly string[] {
    return [...this.#runs.keys()];
  }

  /** Nobody watches any more. */
  clear(): void {
    this.#runs.clear();
  }
}
