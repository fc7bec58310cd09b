import type { DatabaseSync, StatementSync } from "node:sqlite";
import { RETENTION_LIMITS } from "@vidro/core";
import type { RunStatus } from "@vidro/core";
import { isOpen } from "../run-rules.ts";
import type { PrunedRun } from "../seal.ts";
import type { Retention } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

interface RunPlaceRow {
  readonly number: number;
  readonly id: string;
  readonly thread: string;
  readonly status: RunStatus;
  readonly started: number;
}

/** Deletes ended runs of a store in a file; tells each in the transaction that deletes it. */
export function sqliteRetention(connection: SqliteConnection, tell: (run: PrunedRun) => void): Retention {
  return new SqliteRetention(connection, tell);
}

class SqliteRetention implements Retention {
  readonly #connection: SqliteConnection;
  readonly #tell: (run: PrunedRun) => void;
  #statements!: ReturnType<typeof statementsOf>;

  constructor(connection: SqliteConnection, tell: (run: PrunedRun) => void) {
    this.#connection = connection;
    this.#tell = tell;
    connection.join({
      opened: (database) => (this.#statements = statementsOf(database)),
      begun: () => undefined,
      undone: () => undefined,
      committed: () => undefined,
    });
  }

  async due(before: number, limit: number): Promise<readonly string[]> {
    return this.#connection.look(() => {
      const { page, lastAt, newest } = this.#statements;
      const due: string[] = [];
      // The keys of entries go on from the greatest one, which must stay so that none is given twice.
      const kept = newest.get()?.run;
      for (let after = 0; due.length < limit;) {
        const rows = page.all(after, RETENTION_LIMITS.page);
        for (const { number, id, status, started } of rows) {
          if (started >= before || due.length === limit) return due;
          if (!isOpen(status) && number !== kept && (lastAt.get(number)?.at ?? 0) < before) due.push(id);
        }
        const last = rows.at(-1);
        if (last === undefined) return due;
        after = last.number;
      }
      return due;
    });
  }

  prune(runs: readonly string[]): Promise<number> {
    return this.#connection.write(() => runs.filter((run) => this.#prune(run)).length);
  }

  async bytes(): Promise<number> {
    return this.#connection.look(() => this.#statements.bytes.get()?.bytes ?? 0);
  }

  #prune(id: string): boolean {
    const { place, tip, newest, parts, uses, entries, run, spending } = this.#statements;
    const found = place.get(id);
    if (found === undefined || isOpen(found.status) || found.number === newest.get()?.run) return false;
    const { number } = found;
    const last = tip.get(number);
    if (last !== undefined) this.#tell({ id, ...last });
    parts.run(number, number);
    for (const statement of [uses, entries, run]) statement.run(number);
    spending.run(found.thread, found.thread);
    return true;
  }
}

function statementsOf(database: DatabaseSync) {
  const row = "SELECT number, id, thread, status, started FROM run";
  const page: Query<RunPlaceRow> = query(database, `${row} WHERE number > ? ORDER BY number LIMIT ?`);
  const place: Query<RunPlaceRow> = query(database, `${row} WHERE id = ?`);
  const last = "FROM entry WHERE run = ? ORDER BY seq DESC LIMIT 1";
  const lastAt: Query<{ readonly at: number }> = query(database, `SELECT at ${last}`);
  const tip: Query<{ readonly seq: number; readonly hash: string }> = query(
    database,
    `SELECT seq, lower(hex(hash)) AS hash ${last}`,
  );
  const newest: Query<{ readonly run: number }> = query(database, "SELECT run FROM entry ORDER BY rowid DESC LIMIT 1");
  const bytes: Query<{ readonly bytes: number }> = query(
    database,
    "SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
  );
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    page,
    place,
    lastAt,
    tip,
    newest,
    bytes,
    parts: prepare(
      `DELETE FROM part WHERE number IN (SELECT part FROM part_use WHERE run = ?)
      AND NOT EXISTS (SELECT 1 FROM part_use WHERE part = part.number AND run <> ?)`,
    ),
    uses: prepare("DELETE FROM part_use WHERE run = ?"),
    entries: prepare("DELETE FROM entry WHERE run = ?"),
    run: prepare("DELETE FROM run WHERE number = ?"),
    spending: prepare(
      "DELETE FROM spending WHERE kind = 'thread' AND key = ? AND NOT EXISTS (SELECT 1 FROM run WHERE thread = ?)",
    ),
  };
}
