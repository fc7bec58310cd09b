import { createHash } from "node:crypto";

/*
 * The same tests run on SQLite, and on PostgreSQL with Redis: `npm test` starts both servers for its second pass over
 * the conformance suite and names them here. Each home has a schema and a prefix of its own, so that what starts again in
 * the same home finds what it left.
 */

const { VIDRO_TEST_POSTGRES: POSTGRES, VIDRO_TEST_REDIS: REDIS } = process.env;

/** Whether stores are in PostgreSQL. */
export const isOnServers = POSTGRES !== undefined && REDIS !== undefined;

/** Settings of a brain in that home: none on SQLite. */
export function storeSettings(home: string): { readonly VIDRO_STORE?: string; readonly VIDRO_BUS?: string } {
  if (POSTGRES === undefined || REDIS === undefined) return {};
  const name = schemaOf(home);
  return { VIDRO_STORE: `${POSTGRES}?schema=${name}`, VIDRO_BUS: `${REDIS}?prefix=${name}:` };
}

/** The schema of the tables of a home. */
export function schemaOf(home: string): string {
  return `t_${createHash("sha256").update(home).digest("hex").slice(0, 24)}`;
}
