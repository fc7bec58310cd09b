import { NO_SPENDING, POSTGRES_LIMITS, SPENDING_FIELDS } from "@vidro/core";
import type { Entry, UsageTotal, SpendingRow, SpendingSums } from "@vidro/core";
import { SPENDING_COLUMNS, spendingByDay } from "../spending-rules.ts";
import type { PostgresConnection, SqlValue } from "./connection.ts";

/*
 * Sums are counted by the statement that writes the entries, under its condition, so that an entry which is written
 * once is counted once. Each store that is open adds to rows of its own shard: brains that commit at the same time do
 * not wait for each other's row of the day.
 */

const NAMES = SPENDING_FIELDS.map((field) => SPENDING_COLUMNS[field]);
const ADDED = NAMES.map((name) => `${name} = spending.${name} + excluded.${name}`).join(", ");

/** A part of a statement that counts; its values are those of `spendingValues`, from place `first` on. */
export function countSpending(
  first: number,
  run: { readonly from: string; readonly owner: string; readonly thread: string },
): string {
  const arrays = [
    "bigint",
    "text",
    "bigint",
    ...SPENDING_FIELDS.map((field) => (field === "costUsd" ? "float8" : "bigint")),
  ];
  const unnested = arrays.map((type, index) => `$${first + 1 + index}::${type}[]`).join(", ");
  return `spent AS (
      INSERT INTO spending (kind, key, owner, shard, updated, ${NAMES.join(", ")})
      SELECT place.kind, place.key, ${run.owner}, $${first}::smallint, max(used.at), ${NAMES.map((name) => `sum(used.${name})`).join(", ")}
      FROM unnest(${unnested}) AS used (run, day, at, ${NAMES.join(", ")}) JOIN ${run.from}
      CROSS JOIN LATERAL (VALUES ('day', used.day), ('thread', ${run.thread})) AS place (kind, key)
      GROUP BY place.kind, place.key, ${run.owner} ORDER BY 1, 2, 3
      ON CONFLICT (kind, key, owner, shard) DO UPDATE
        SET updated = greatest(spending.updated, excluded.updated), ${ADDED})`;
}

/** Values for `countSpending`: the shard, and an array for each column; undefined when nothing is to be counted. */
export function spendingValues(
  shard: number,
  runs: readonly { readonly number: number; readonly entries: readonly Entry[] }[],
): readonly SqlValue[] | undefined {
  const rows = runs.flatMap(({ number, entries }) => spendingByDay(entries).map((spent) => ({ number, ...spent })));
  if (rows.length === 0) return undefined;
  return [
    shard,
    rows.map(({ number }) => number),
    rows.map(({ day }) => day),
    rows.map(({ at }) => at),
    ...SPENDING_FIELDS.map((field) => rows.map((row) => row[field])),
  ];
}

/** Values for `countSpending` that count nothing. */
export const NOTHING_SPENT: readonly SqlValue[] = [0, ...Array.from({ length: SPENDING_FIELDS.length + 3 }, () => [])];

/** The shard of a store that is being opened. */
export function spendingShard(): number {
  return Math.floor(Math.random() * POSTGRES_LIMITS.spendingShards);
}

const SUMS = SPENDING_FIELDS.map((field) => {
  const column = SPENDING_COLUMNS[field];
  const type = field === "costUsd" ? "float8" : "bigint";
  return `coalesce(sum(${column}), 0)::${type} AS "${field}"`;
}).join(", ");
const SUM = { name: "spending", text: `SELECT ${SUMS} FROM spending WHERE kind = $1 AND key = $2` };
const LIST = {
  text: `SELECT key, owner, max(updated) AS "updatedAt", ${SUMS} FROM spending
    WHERE kind = $1 AND ($3::text IS NULL OR owner = $3) GROUP BY key, owner HAVING max(updated) >= $2
    ORDER BY 3 DESC, 1 DESC LIMIT $4`,
};

/** The sums of a store in PostgreSQL. */
export function postgresSpending(connection: PostgresConnection): SpendingSums {
  return {
    async sum(by, key) {
      const [sum] = await connection.read<UsageTotal>(SUM, [by, key]);
      return sum ?? NO_SPENDING;
    },
    list: (by, { owner, since, limit }) => connection.read<SpendingRow>(LIST, [by, since, owner ?? null, limit]),
  };
}
