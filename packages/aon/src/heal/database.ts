import { HEALING_LIMITS } from "../limits.ts";
import { backoffMs } from "./backoff.ts";
import type { Failure } from "./failure.ts";
import type { Heuristic } from "./heuristic.ts";

/** How to reconnect to a database. */
export interface DatabaseSource {
  /** Makes a new connection; rejects when that fails. */
  readonly reconnect: (signal: AbortSignal) => Promise<unknown>;
  /** Whether a failure is one of the connection; the known codes of the usual drivers by default. */
  readonly fits?: (failure: Failure) => boolean;
}

const LOST =
  /^(?:08\w{3}|57P0[123]|P10(?:01|02|08|17)|DB_\w*(?:UNREACHABLE|CONNECTION|LOST)\w*|PROTOCOL_(?:CONNECTION_LOST|ENQUEUE_AFTER_FATAL_ERROR)|ER_SERVER_SHUTDOWN|CONNECTION_(?:CLOSED|DESTROYED|ENDED)|NR_CLOSED|ESOCKET)$/;
const CLIENTS = /^(?:MongoNetwork\w*Error|MongoServerSelectionError|SequelizeConnection\w*Error|ConnectionError)$/;
/** Ports of PostgreSQL, MySQL, Redis, MongoDB, SQL Server, Oracle. */
const PORTS: readonly (number | undefined)[] = [5432, 3306, 6379, 27017, 1433, 1521];

/** Reconnects to a database after its connection was lost. */
export function recoverDbConnection({ reconnect, fits = isLost }: DatabaseSource): Heuristic {
  return {
    action: "recover_db_connection",
    severity: "critical",
    description: "The database is out of reach: connecting anew.",
    attempts: HEALING_LIMITS.attempts,
    issue: "db_connection_lost",
    fits,
    async mend({ attempt, signal, rest }) {
      if (attempt > 1) await rest(backoffMs(attempt - 1, Math.random()), "Waiting for the database.");
      await reconnect(signal);
      return {};
    },
  };
}

function isLost({ code, name, port }: Failure): boolean {
  return LOST.test(code) || CLIENTS.test(name) || (code.startsWith("ECONN") && PORTS.includes(port));
}
