/** Does work on the same thing in the order of the calls, and work on different things at the same time. */
export class Sequences {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all earlier work on the thing has ended. */
  async do<Result>(thing: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(thing);
    const own = before === undefined ? work() : before.then(work, work);
    this.#last.set(thing, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(thing) === own) this.#last.delete(thing);
    }
  }
}
