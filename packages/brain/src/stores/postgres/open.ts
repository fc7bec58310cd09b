import { setTimeout as delay } from "node:timers/promises";
import { Fault, POSTGRES_LIMITS } from "@vidro/core";
import pg from "pg";
import type { Client, Pool } from "pg";
import { clientConfig, withoutTls } from "./address.ts";
import type { PostgresAddress } from "./address.ts";
import { postgresFault, troubleOf } from "./fault.ts";
import { POSTGRES_MIGRATIONS } from "./schema.ts";

/** Oldest version of the server that is supported, as its `server_version_num`. */
const OLDEST_SERVER = 150_000;
/** Number of the advisory lock under which one brain migrates: "Vidro" in ASCII, which fits a bigint. */
const MIGRATION_LOCK = 0x56_69_64_72_6f;
const NO_TLS = /does not support SSL/iu;
/** A process-wide table of types would change other users of pg. */
const INT8 = 20;
const TYPES = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format),
};

/** A database whose schema is at the newest version, with its way to connect. */
interface OpenedDatabase {
  readonly pool: Pool;
  readonly address: PostgresAddress;
}

/** How a database is opened. */
interface OpenOptions {
  readonly migrations?: readonly string[];
  /** Connections at most. */
  readonly connections?: number;
}

/**
 * Connects, migrates the schema under a lock that several brains may race for, and makes the pool. A server that is not
 * there yet is waited for.
 */
export async function openPostgres(
  asked: PostgresAddress,
  { migrations = POSTGRES_MIGRATIONS, connections = POSTGRES_LIMITS.connections }: OpenOptions = {},
): Promise<OpenedDatabase> {
  const since = performance.now();
  for (let address = asked; ;) {
    try {
      const options = await prepareSchema(address, migrations);
      return { address, pool: makePool(address, options, connections) };
    } catch (thrown) {
      if (address.prefersTls && thrown instanceof Error && NO_TLS.test(thrown.message)) address = withoutTls(address);
      else if (thrown instanceof Fault) throw thrown;
      else if (troubleOf(thrown) === "final" || performance.now() - since >= POSTGRES_LIMITS.openMs)
        throw postgresFault(thrown, address.name);
      else await delay(POSTGRES_LIMITS.retryCapMs);
    }
  }
}

/** A connection of its own for wakes; its commits hold no truth and wait for no disk. */
export function wakeClient(address: PostgresAddress): Client {
  return new pg.Client({
    ...clientConfig(address, "-c synchronous_commit=off"),
    application_name: "vidro-wakes",
    connectionTimeoutMillis: POSTGRES_LIMITS.connectMs,
    query_timeout: POSTGRES_LIMITS.replyMs,
    keepAlive: true,
  });
}

function makePool(address: PostgresAddress, options: string, connections: number): Pool {
  return new pg.Pool({
    ...clientConfig(address, options),
    application_name: "vidro",
    types: TYPES,
    max: connections,
    idleTimeoutMillis: POSTGRES_LIMITS.idleMs,
    connectionTimeoutMillis: POSTGRES_LIMITS.connectMs,
    statement_timeout: POSTGRES_LIMITS.statementMs,
    query_timeout: POSTGRES_LIMITS.replyMs,
    keepAlive: true,
    allowExitOnIdle: true,
  });
}

/** Brings the schema to the newest version; returns the settings that the pool's connections need. */
async function prepareSchema(address: PostgresAddress, migrations: readonly string[]): Promise<string> {
  const client = new pg.Client({
    ...clientConfig(address),
    types: TYPES,
    connectionTimeoutMillis: POSTGRES_LIMITS.connectMs,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const server = Number(await readSetting(client, "server_version_num"));
    if (server < OLDEST_SERVER)
      throw new Fault(
        "STORE_UNREADABLE",
        `${address.name} is older than version ${OLDEST_SERVER / 10_000}; upgrade it.`,
      );
    await client.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await migrate(client, address, migrations);
    // What is acknowledged is on disk, whatever the server's default is.
    return (await readSetting(client, "synchronous_commit")) === "off" ? "-c synchronous_commit=on" : "";
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function migrate(
  client: Client,
  { schema, name }: PostgresAddress,
  migrations: readonly string[],
): Promise<void> {
  const version = await versionOf(client, schema);
  if (version > migrations.length) {
    const message = `${name} has version ${version}; this Vidro knows versions up to ${migrations.length}.`;
    throw new Fault("STORE_NEWER", message, { detail: { found: version, known: migrations.length } });
  }
  if (version === migrations.length) return;
  await client.query("BEGIN");
  if (version === 0) {
    // Making a schema that exists needs a right that the user of a database may lack.
    const { rowCount } = await client.query("SELECT FROM pg_namespace WHERE nspname = $1", [schema]);
    if (rowCount === 0) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query("CREATE TABLE version (version integer NOT NULL)");
  }
  for (const script of migrations.slice(version)) await client.query(script);
  await client.query(`DELETE FROM version; INSERT INTO version VALUES (${migrations.length}); COMMIT`);
}

/** The version of the schema; 0 when it is empty or missing, STORE_UNREADABLE when it has foreign tables. */
async function versionOf(client: Client, schema: string): Promise<number> {
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
  if (rows.length === 0) return 0;
  if (!rows.some(({ tablename }) => tablename === "version"))
    throw new Fault("STORE_UNREADABLE", `The schema ${schema} holds the tables of another program; name another one.`);
  const found = await client.query("SELECT version FROM version");
  return Number(found.rows[0]?.version ?? 0);
}

async function readSetting(client: Client, name: string): Promise<string> {
  const { rows } = await client.query("SELECT current_setting($1) AS value", [name]);
  return String(rows[0]?.value);
}
