import type { SqliteConnection } from "./connection.ts";
import { Watchers } from "../watchers.ts";

/** Watchers of things that other processes change too; `countOf` reads the change counter of a thing. */
export class SqliteWatchers {
  readonly #connection: SqliteConnection;
  readonly #countOf: (thing: string) => number;
  readonly #watchers = new Watchers();
  #stopLooking = (): void => undefined;

  constructor(connection: SqliteConnection, countOf: (thing: string) => number) {
    this.#connection = connection;
    this.#countOf = countOf;
  }

  /** Watches a thing; returns a function that stops that. */
  add(thing: string, wake: () => void): () => void {
    // The watch for other processes starts first: a commit in between is then reported twice rather than never.
    if (this.#watchers.size === 0) this.#stopLooking = this.#connection.lookOut(() => this.#tellAll());
    const count = this.#connection.look(() => this.#countOf(thing));
    const stop = this.#watchers.add(thing, count, wake);
    return () => {
      stop();
      if (this.#watchers.size === 0) this.#stopLooking();
    };
  }

  /** Wakes the watchers of a thing if its counter has moved. */
  tell(thing: string, count: number): void {
    this.#watchers.tell(thing, count);
  }

  #tellAll(): void {
    for (const thing of this.#watchers.things()) this.#watchers.tell(thing, this.#countNow(thing));
  }

  /** A thing that cannot be read counts as changed, so that its watchers read it and get the fault. */
  #countNow(thing: string): number {
    try {
      return this.#countOf(thing);
    } catch {
      return Infinity;
    }
  }
}
