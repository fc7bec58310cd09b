import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** A statement that returns rows. */
export interface Query<Row> {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
}

/** Prepares a typed statement. */
export function query<Row>(database: DatabaseSync, sql: string): Query<Row> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tables are STRICT: the schema says what a row
  // is
  return database.prepare(sql) as unknown as Query<Row>;
}
