import type { DatabaseSync, StatementSync } from "node:sqlite";
import { NO_SPENDING, SPENDING_FIELDS } from "@vidro/core";
import type { Entry, UsageTotal, SpendingRow, SpendingSums } from "@vidro/core";
import { SPENDING_COLUMNS, spendingByDay } from "../spending-rules.ts";
import type { SqliteConnection } from "./connection.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

const NAMES = SPENDING_FIELDS.map((field) => SPENDING_COLUMNS[field]);
const AS_FIELDS = SPENDING_FIELDS.map((field) => `${SPENDING_COLUMNS[field]} AS ${field}`);

/** The sums of a store in a file. */
export class SqliteSpending {
  readonly #connection: SqliteConnection;
  #statements!: ReturnType<typeof statementsOf>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    connection.join({
      opened: (database) => (this.#statements = statementsOf(database)),
      begun: () => undefined,
      undone: () => undefined,
      committed: () => undefined,
    });
  }

  /** Counts entries of the run with that number, in the transaction that writes them. */
  count(run: number, entries: readonly Entry[]): void {
    for (const { day, at, ...spent } of spendingByDay(entries)) {
      const values = SPENDING_FIELDS.map((field) => spent[field]);
      this.#statements.addDay.run(day, at, ...values, run);
      this.#statements.addThread.run(at, ...values, run);
    }
  }

  /** What is read of the sums. */
  readonly sums: SpendingSums = {
    sum: async (by, key) => this.#connection.look(() => ({ ...NO_SPENDING, ...this.#statements.sum.get(by, key) })),
    list: async (by, { owner, since, limit }) =>
      this.#connection.look(() =>
        this.#statements.list.all(by, since, owner ?? null, owner ?? null, limit).map((row) => ({ ...row })),
      ),
  };
}

function statementsOf(database: DatabaseSync) {
  const added = NAMES.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
  const add = (kind: "day" | "thread", key: string): StatementSync =>
    database.prepare(
      `INSERT INTO spending (kind, key, owner, updated, ${NAMES.join(", ")})
      SELECT '${kind}', ${key}, owner, ?, ${NAMES.map(() => "?").join(", ")} FROM run WHERE number = ?
      ON CONFLICT DO UPDATE SET updated = max(updated, excluded.updated), ${added}`,
    );
  const sums = SPENDING_FIELDS.map((field) => `total(${SPENDING_COLUMNS[field]}) AS ${field}`);
  const sum: Query<UsageTotal> = query(database, `SELECT ${sums.join(", ")} FROM spending WHERE kind = ? AND key = ?`);
  const list: Query<SpendingRow> = query(
    database,
    `SELECT key, owner, updated AS updatedAt, ${AS_FIELDS.join(", ")} FROM spending
    WHERE kind = ? AND updated >= ? AND (? IS NULL OR owner = ?) ORDER BY updated DESC, key DESC LIMIT ?`,
  );
  return { addDay: add("day", "?"), addThread: add("thread", "thread"), sum, list };
}
