import type { SqliteConnection } from "./sqlite-connection.ts";
import { Watchers } from "./watchers.ts";

/** Watchers of things that other processes change too; `countOf` reads how far a thing has counted. */
export class SqliteWatchers {
  readonly #connection: SqliteConnection;
  readonly #countOf: (thing: string) => number;
  readonly #watchers = new Watchers();
  #stopLooking = (): void => undefined;

  constructor(connection: SqliteConnection, countOf: (thing: string) => number) {
    this.#connection = connection;
    this.#countOf = countOf;
  }

  /** Watches a thing; returns how to stop. */
  add(thing: string, wake: () => void): () => void {
    // Looking out comes first: what is committed in between is then told once too often rather than never.
    if (this.#watchers.size === 0) this.#stopLooking = this.#connection.lookOut(() => this.#tellAll());
    const count = this.#connection.look(() => this.#countOf(thing));
    const stop = this.#watchers.add(thing, count, wake);
    return () => {
      stop();
      if (this.#watchers.size === 0) this.#stopLooking();
    };
  }

  /** Wakes those who watch the thing if it has counted on. */
  tell(thing: string, count: number): void {
    this.#watchers.tell(thing, count);
  }

  #tellAll(): void {
    for (const thing of this.#watchers.things()) this.#watchers.tell(thing, this.#countNow(thing));
  }

  /** A thing that cannot be read counts on, so that those who watch it read, and are told why they cannot. */
  #countNow(thing: string): number {
    try {
      return this.#countOf(thing);
    } catch {
      return Infinity;
    }
  }
}
