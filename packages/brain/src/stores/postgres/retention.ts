import { RETENTION_LIMITS } from "@vidro/core";
import type { RunStatus } from "@vidro/core";
import { isOpen } from "../run-rules.ts";
import type { Retention } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";

interface RunPlaceRow {
  readonly number: number;
  readonly id: string;
  readonly status: RunStatus;
  readonly started: number;
  readonly updated: number;
}

const PAGE = {
  text: "SELECT number, id, status, started, updated FROM run WHERE number > $1 ORDER BY number LIMIT $2",
};
const PRUNE = { text: "SELECT prune($1) AS pruned" };

/** Deletes ended runs of a store in PostgreSQL; how large a database may be is its administrator's to bound. */
export function postgresRetention(connection: PostgresConnection): Retention {
  return {
    async due(before, limit) {
      const due: string[] = [];
      for (let after = 0; ;) {
        const rows = await connection.read<RunPlaceRow>(PAGE, [after, RETENTION_LIMITS.page]);
        for (const { id, status, started, updated } of rows) {
          if (started >= before || due.length === limit) return due;
          if (!isOpen(status) && updated < before) due.push(id);
        }
        const last = rows.at(-1);
        if (last === undefined) return due;
        after = last.number;
      }
    },
    async prune(runs) {
      const [counted] = await connection.write(() => connection.query<{ readonly pruned: number }>(PRUNE, [runs]));
      return counted?.pruned ?? 0;
    },
    bytes: async () => undefined,
  };
}
