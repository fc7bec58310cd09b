import { FIRST_GENERATION } from "@vidro/core/run";
import { Damage } from "./damage.ts";
import { postgresAddress } from "./postgres/address.ts";
import { PostgresConnection } from "./postgres/connection.ts";
import { postgresJournal } from "./postgres/journal.ts";
import { openPostgres, wakeClient } from "./postgres/open.ts";
import { postgresRecords } from "./postgres/records.ts";
import { postgresRetention } from "./postgres/retention.ts";
import { SERVER_NOW } from "./postgres/rows.ts";
import { postgresSpending } from "./postgres/spending.ts";
import { PostgresWakes } from "./postgres/wakes.ts";
import type { Incarnation, OpenRuns, Store, StoreOptions } from "./store.ts";

const COUNT = {
  text: `SELECT count(*) FILTER (WHERE status = 'running') AS running, count(*) FILTER (WHERE status = 'asking') AS asking,
    count(*) FILTER (WHERE holder IS NULL OR until <= coalesce($1, ${SERVER_NOW})) AS undriven
    FROM run WHERE status IN ('running', 'asking')`,
};
const READ_INCARNATION = { text: "SELECT generation, floor FROM incarnation" };
const FIRST_INCARNATION = {
  text: "INSERT INTO incarnation (place, generation, floor) VALUES (1, $1, 0) ON CONFLICT DO NOTHING",
};
const NEXT_INCARNATION = {
  text: `UPDATE incarnation SET generation = generation + 1, floor = greatest(floor + 1, ${SERVER_NOW})
    RETURNING generation, floor`,
};

/** A store in a PostgreSQL database that several brains share. */
export async function postgresStore(where: string, options: StoreOptions = {}): Promise<Store> {
  const { address, pool } = await openPostgres(postgresAddress(where));
  const connection = new PostgresConnection(pool, address.name);
  try {
    const incarnation = await openIncarnation(connection, options.restored === true);
    const damage = new Damage();
    const { now, bus } = options;
    const wakes = new PostgresWakes({
      connection,
      client: () => wakeClient(address),
      channel: address.schema,
      bus,
    }).start();
    const journal = postgresJournal({ connection, wakes, now, damage, floor: incarnation.floor });
    return {
      incarnation,
      journal,
      records: postgresRecords(connection, wakes, now ?? Date.now),
      spending: postgresSpending(connection),
      retention: postgresRetention(connection),
      condition: {
        damaged: () => damage.list(),
        async openRuns() {
          const [counted] = await connection.read<OpenRuns>(COUNT, [now?.() ?? null]);
          return counted ?? { running: 0, asking: 0, undriven: 0 };
        },
      },
      close: () => journal.close(),
    };
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

/** A database cannot tell by itself that it was restored, so that only a person's word makes another incarnation. */
async function openIncarnation(connection: PostgresConnection, isRestored: boolean): Promise<Incarnation> {
  await connection.write(() => connection.query(FIRST_INCARNATION, [FIRST_GENERATION]));
  const statement = isRestored ? NEXT_INCARNATION : READ_INCARNATION;
  const [row] = await connection.write(() =>
    connection.query<Pick<Incarnation, "generation" | "floor">>(statement, []),
  );
  const { generation, floor } = row ?? { generation: FIRST_GENERATION, floor: 0 };
  return { generation, floor, ...(isRestored ? { restored: "it was started with --restored" } : {}) };
}
