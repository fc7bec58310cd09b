import type { DatabaseSync } from "node:sqlite";
import { addSpending, NO_SPENDING, SPENDING_FIELDS, spendingIn } from "@vidro/core";
import type { Entry, NewRun, UsageTotal, SpendingRow, SpendingSums } from "@vidro/core";
import { dayOfTime, SPENDING_COLUMNS } from "../spending-rules.ts";
import type { SqliteConnection } from "./connection.ts";
import { query } from "./query.ts";
import type { Query } from "./query.ts";

const NAMES = SPENDING_FIELDS.map((field) => SPENDING_COLUMNS[field]);
const AS_FIELDS = SPENDING_FIELDS.map((field) => `${SPENDING_COLUMNS[field]} AS ${field}`);

/** What the open transaction adds to a row of the sums. */
interface Addition {
  readonly kind: "day" | "thread";
  readonly key: string;
  readonly owner: string;
  readonly spent: UsageTotal;
  /** Time of the last entry. */
  readonly at: number;
}

/** The sums of a store in a file. */
export class SqliteSpending {
  readonly #connection: SqliteConnection;
  #statements!: ReturnType<typeof statementsOf>;
  /** By their rows; written at the end of the transaction, because runs of one commit share rows. */
  readonly #additions = new Map<string, Addition>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    connection.join({
      opened: (database) => (this.#statements = statementsOf(database)),
      begun: () => undefined,
      committing: () => this.settle(),
      undone: () => this.#additions.clear(),
      committed: () => undefined,
    });
  }

  /** Counts entries of a run, in the transaction that writes them. */
  count({ owner, thread }: Pick<NewRun, "owner" | "thread">, entries: readonly Entry[]): void {
    for (const { at, event } of entries) {
      const spent = spendingIn(event);
      if (spent === undefined) continue;
      this.#add({ kind: "day", key: dayOfTime(at), owner, spent, at });
      this.#add({ kind: "thread", key: thread, owner, spent, at });
    }
  }

  /** Writes what was counted in the open transaction. */
  settle(): void {
    for (const { kind, key, owner, spent, at } of this.#additions.values())
      this.#statements.add.run(kind, key, owner, at, ...SPENDING_FIELDS.map((field) => spent[field]));
    this.#additions.clear();
  }

  #add(added: Addition): void {
    const row = `${added.kind} ${added.key.length} ${added.key} ${added.owner}`;
    const known = this.#additions.get(row);
    const sum = known && { spent: addSpending(known.spent, added.spent), at: Math.max(known.at, added.at) };
    this.#additions.set(row, sum === undefined ? added : { ...added, ...sum });
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
  const add = database.prepare(
    `INSERT INTO spending (kind, key, owner, updated, ${NAMES.join(", ")})
    VALUES (?, ?, ?, ?, ${NAMES.map(() => "?").join(", ")})
    ON CONFLICT DO UPDATE SET updated = max(updated, excluded.updated), ${added}`,
  );
  const sums = SPENDING_FIELDS.map((field) => `total(${SPENDING_COLUMNS[field]}) AS ${field}`);
  const sum: Query<UsageTotal> = query(database, `SELECT ${sums.join(", ")} FROM spending WHERE kind = ? AND key = ?`);
  const list: Query<SpendingRow> = query(
    database,
    `SELECT key, owner, updated AS updatedAt, ${AS_FIELDS.join(", ")} FROM spending
    WHERE kind = ? AND updated >= ? AND (? IS NULL OR owner = ?) ORDER BY updated DESC, key DESC LIMIT ?`,
  );
  return { add, sum, list };
}
