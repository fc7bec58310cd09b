import { setTimeout as delay } from "node:timers/promises";
import { Fault, POSTGRES_LIMITS, STORE_LIMITS } from "@vidro/core";
import type { Pool } from "pg";
import { postgresFault, troubleOf, unknownWrite } from "./fault.ts";

/** A value of a statement. */
export type SqlValue = string | number | null | readonly (string | number | null)[];

/** A statement; one with a name is prepared once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** One attempt at a write; `isRepeat` when an earlier one may have been carried out. */
type WriteAttempt<Result> = (isRepeat: boolean) => Promise<Result>;

/**
 * A bounded pool of connections to one database. A cut connection is replaced and the work repeated with growing delays.
 * Every write is one statement, so that it is carried out whole or not at all, and repeating it finds what is there.
 */
export class PostgresConnection {
  readonly #pool: Pool;
  /** The store as people know it, without its password. */
  readonly #name: string;
  #pending = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(pool: Pool, name: string) {
    this.#pool = pool;
    this.#name = name;
    // A connection that ends while it is idle is dropped by the pool; the next use makes another.
    pool.on("error", () => undefined);
  }

  /** Reads rows; repeated while the server cannot be reached. */
  read<Row>(statement: Statement, values: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#whileOpen(() =>
      this.#healed(
        () => this.query<Row>(statement, values),
        (thrown) => postgresFault(thrown, this.#name),
      ),
    );
  }

  /** Repeats a write until it is known to be carried out or refused; COMMIT_UNKNOWN when that takes too long. */
  write<Result>(attempt: WriteAttempt<Result>): Promise<Result> {
    return this.#whileOpen(() =>
      this.#healed(attempt, (thrown, isDoubtful) =>
        isDoubtful ? unknownWrite(thrown, this.#name) : postgresFault(thrown, this.#name),
      ),
    );
  }

  /** Sends one statement once; errors are those of the client. */
  async query<Row>(statement: Statement, values: readonly SqlValue[]): Promise<readonly Row[]> {
    const { rows } = await this.#pool.query({ ...statement, values: [...values] });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says what a row is
    return rows as Row[];
  }

  /** Waits for pending work and closes; does nothing when it is closed already. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#pending);
    await this.#pool.end();
  }

  async #whileOpen<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed !== undefined) throw new Fault("STORE_UNREADABLE", `${this.#name} was closed.`);
    if (this.#pending.size >= STORE_LIMITS.waiting)
      throw new Fault("STORE_BUSY", `${STORE_LIMITS.waiting} calls wait for ${this.#name} already.`);
    const pending = work();
    this.#pending.add(pending);
    try {
      return await pending;
    } finally {
      this.#pending.delete(pending);
    }
  }

  async #healed<Result>(
    attempt: WriteAttempt<Result>,
    faultOf: (thrown: unknown, isDoubtful: boolean) => Fault,
  ): Promise<Result> {
    const since = performance.now();
    let isDoubtful = false;
    for (let restMs: number = POSTGRES_LIMITS.retryMs; ; restMs = Math.min(restMs * 2, POSTGRES_LIMITS.retryCapMs)) {
      try {
        return await attempt(isDoubtful);
      } catch (thrown) {
        if (thrown instanceof Fault) throw thrown;
        const trouble = troubleOf(thrown);
        isDoubtful ||= trouble === "doubtful";
        if (trouble === "final" || performance.now() - since >= STORE_LIMITS.doubtMs) throw faultOf(thrown, isDoubtful);
        await delay(restMs);
      }
    }
  }
}
