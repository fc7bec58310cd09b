import { spawn } from "node:child_process";
import { once } from "node:events";
import { asFault, Fault, POSTGRES_LIMITS } from "@vidro/core";
import { postgresAddress } from "./address.ts";

/*
 * Backups of a store in PostgreSQL are made and loaded by the server's own programs, pg_dump and pg_restore: one
 * consistent snapshot of our schema. The password goes by the environment, since other users see arguments.
 */

/** The address of a store, and the environment that its programs are found in. */
export interface DumpedStore {
  readonly address: string;
  readonly env: { readonly [name: string]: string | undefined };
}

/** Writes all tables of a store to a file, in the custom format of pg_dump. */
export function dumpPostgres(store: DumpedStore, file: string): Promise<void> {
  const { schema } = postgresAddress(store.address);
  return runProgram("pg_dump", store, ["--format=custom", "--no-owner", `--schema=${schema}`, `--file=${file}`]);
}

/** Loads a dump into a database, whole or not at all; a database that has the tables already is refused. */
export function loadPostgres(store: DumpedStore, file: string): Promise<void> {
  return runProgram("pg_restore", store, ["--single-transaction", "--exit-on-error", "--no-owner", file]);
}

async function runProgram(program: string, { address, env }: DumpedStore, args: readonly string[]): Promise<void> {
  const { name } = postgresAddress(address);
  const url = new URL(address);
  const password = decodeURIComponent(url.password);
  url.password = "";
  url.searchParams.delete("schema");
  const child = spawn(program, [`--dbname=${url.href}`, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...env, ...(password === "" ? {} : { PGPASSWORD: password }) },
  });
  let said = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (chunk: string) => (said = (said + chunk).slice(-POSTGRES_LIMITS.saidChars)));
  const [code] = await once(child, "close").catch((thrown: unknown) => {
    const hint = `Install the client programs of PostgreSQL (Debian: postgresql-client), at least of the server's version.`;
    throw new Fault("STORE_UNREADABLE", `${program} cannot be run: ${asFault(thrown).message}. ${hint}`);
  });
  if (code !== 0) throw new Fault("STORE_FAILED", `${program} of ${name} failed: ${said.trim()}`);
}
