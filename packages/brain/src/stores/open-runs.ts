import { query } from "./sqlite/query.ts";
import type { SqliteConnection } from "./sqlite/connection.ts";
import type { OpenRuns } from "./store.ts";

// Exactly the condition of the index of open runs, so that SQLite reads no other run.
const COUNT = `SELECT ifnull(sum(status = 'running'), 0) AS running, ifnull(sum(status = 'asking'), 0) AS asking,
  ifnull(sum(holder IS NULL OR until <= ?), 0) AS undriven
  FROM run WHERE status IN ('running', 'asking')`;

/** Counts the open runs of a database. */
export function openRunsIn(connection: SqliteConnection, now: () => number): () => Promise<OpenRuns> {
  const count = query<OpenRuns>(connection.database, COUNT);
  return async () => connection.look(() => ({ ...(count.get(now()) ?? { running: 0, asking: 0, undriven: 0 }) }));
}
