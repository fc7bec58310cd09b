import { Fault } from "@vidro/core";
import type { ClientConfig } from "pg";

/** Where a store in PostgreSQL lies. */
export interface PostgresAddress {
  /** The address for the client, in the words of libpq. */
  readonly url: string;
  /** The schema of its tables, which is also the channel of its wakes. */
  readonly schema: string;
  /** The store as people know it: without user and password. */
  readonly name: string;
  /** Whether a server without TLS is taken, as libpq does unless it is told otherwise. */
  readonly prefersTls: boolean;
}

const DEFAULT_SCHEMA = "vidro";
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/u;
const PREFERRED: ReadonlySet<string | null> = new Set([null, "prefer", "allow"]);

/**
 * Reads an address `postgres://user:password@host:port/database?sslmode=verify-full&schema=vidro`. TLS is as libpq has
 * it: `sslmode`, `sslrootcert`, `sslcert` and `sslkey`; unsaid it is `prefer`.
 */
export function postgresAddress(text: string): PostgresAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    const hint = "It is like postgres://user:password@host:5432/database.";
    throw new Fault("BAD_REQUEST", `The address of the store in PostgreSQL cannot be read. ${hint}`, { cause });
  }
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA_NAME.test(schema))
    throw new Fault("BAD_REQUEST", `The schema of the store has at most 63 of a-z, 0-9 and _, not ${schema}.`);
  url.searchParams.delete("schema");
  const prefersTls = PREFERRED.has(url.searchParams.get("sslmode")) && !isLocal(url);
  if (prefersTls) url.searchParams.set("sslmode", "prefer");
  url.searchParams.set("uselibpqcompat", "true");
  const host = url.searchParams.get("host") ?? url.host;
  return { url: url.href, schema, name: `PostgreSQL ${host}${url.pathname}`, prefersTls };
}

/** The address without TLS, for a server that has none. */
export function withoutTls(address: PostgresAddress): PostgresAddress {
  const url = new URL(address.url);
  url.searchParams.set("sslmode", "disable");
  return { ...address, url: url.href, prefersTls: false };
}

/** Settings that all connections to an address share. */
export function clientConfig({ url, schema }: PostgresAddress, options = ""): ClientConfig {
  const own = new URL(url).searchParams.get("options") ?? "";
  return { connectionString: url, options: `${own} -c search_path=${schema} ${options}`.trim() };
}

/** Whether it is a Unix socket, which has no TLS. */
function isLocal(url: URL): boolean {
  return (url.searchParams.get("host") ?? "").startsWith("/") || url.hostname === "" || url.hostname.startsWith("%2F");
}
