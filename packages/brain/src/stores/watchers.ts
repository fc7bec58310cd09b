/** Who wants to be woken when something counts on: a run by its last `seq`, a kind of records by its changes. */
export class Watchers {
  readonly #watched = new Map<string, { count: number; readonly wakes: Set<() => void> }>();

  /** How many things are watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** Watches a thing that stands at `count`; returns how to stop. */
  add(thing: string, count: number, wake: () => void): () => void {
    const watched = this.#watched.get(thing) ?? { count, wakes: new Set() };
    this.#watched.set(thing, watched);
    // The same function may be given twice, and each stop is to end one watch only.
    const own = (): void => wake();
    watched.wakes.add(own);
    return () => {
      watched.wakes.delete(own);
      if (watched.wakes.size === 0 && this.#watched.get(thing) === watched) this.#watched.delete(thing);
    };
  }

  /** Wakes those who watch the thing if it has counted on. Nobody is waited for: wakes run after the caller. */
  tell(thing: string, count: number): void {
    const watched = this.#watched.get(thing);
    if (watched === undefined || count <= watched.count) return;
    watched.count = count;
    for (const wake of watched.wakes) queueMicrotask(wake);
  }

  /** The things that are watched. */
  things(): readonly string[] {
    return [...this.#watched.keys()];
  }

  /** Nobody watches any more. */
  clear(): void {
    this.#watched.clear();
  }
}
