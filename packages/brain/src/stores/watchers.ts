/** Callbacks for changes of a counter: the last `seq` of a run, the number of changes of a kind of records. */
export class Watchers {
  readonly #watched = new Map<string, { count: number; readonly wakes: Set<() => void> }>();

  /** Number of watched things. */
  get size(): number {
    return this.#watched.size;
  }

  /** Watches a thing whose counter is at `count`; returns a function that stops that. */
  add(thing: string, count: number, wake: () => void): () => void {
    const watched = this.#watched.get(thing) ?? { count, wakes: new Set() };
    this.#watched.set(thing, watched);
    // The same function may be given twice, and each stop ends one watch only.
    const own = (): void => wake();
    watched.wakes.add(own);
    return () => {
      watched.wakes.delete(own);
      if (watched.wakes.size === 0 && this.#watched.get(thing) === watched) this.#watched.delete(thing);
    };
  }

  /**
   * Wakes the watchers of a thing if its counter has moved. Wakes run after the caller, which does not wait for them.
   */
  tell(thing: string, count: number): void {
    const watched = this.#watched.get(thing);
    if (watched === undefined || count <= watched.count) return;
    watched.count = count;
    for (const wake of watched.wakes) queueMicrotask(wake);
  }

  /** The watched things. */
  things(): readonly string[] {
    return [...this.#watched.keys()];
  }

  /** Removes all watchers. */
  clear(): void {
    this.#watched.clear();
  }
}
