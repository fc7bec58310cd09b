import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault, STORE_LIMITS } from "@vidro/core";
import { isOutOfSpace, storeFault } from "./fault.ts";
import { APPLICATION_ID, MIGRATIONS } from "./schema.ts";

/**
 * Opens the database at `path`; makes it or migrates it to the newest version if needed. Only its owner can read it.
 */
export function openDatabase(path: string, migrations: readonly string[] = MIGRATIONS): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite gives its side files the mode of the database, so that mode is set before it opens.
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    database = new DatabaseSync(path, { timeout: STORE_LIMITS.busyMs });
    prepareDatabase(database, path, migrations);
    return database;
  } catch (thrown) {
    database?.close();
    const readable = isOutOfSpace(thrown, path) ? openOnFullDisk(path, migrations.length) : undefined;
    if (readable !== undefined) return readable;
    const fault = storeFault(thrown, path);
    // Damage found on opening concerns the whole store, not one run.
    throw fault.code === "JOURNAL_CORRUPT" ? new Fault("STORE_UNREADABLE", fault.message, { cause: thrown }) : fault;
  }
}

/**
 * Opens a store for reading on a full disk, where there is no space for the shared-memory file: a connection with an
 * exclusive lock needs none. Its writes fail on the full disk.
 */
function openOnFullDisk(path: string, newest: number): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: STORE_LIMITS.busyMs });
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
    if (checkedVersion(database, path, newest) === newest) return database;
  } catch {
    // The caller reports the first fault, that of the full disk.
  }
  database?.close();
  return undefined;
}

function prepareDatabase(database: DatabaseSync, path: string, migrations: readonly string[]): void {
  // Checked before anything is written: a foreign or newer store stays as it is.
  const version = checkedVersion(database, path, migrations.length);
  const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
  if (mode !== "wal") throw new Fault("STORE_UNREADABLE", `The disk of ${path} cannot hold a write-ahead log.`);
  // fullfsync matters on macOS alone, where a plain fsync leaves the data in the drive's cache.
  database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF");
  if (version < migrations.length) migrate(database, path, migrations);
}

function migrate(database: DatabaseSync, path: string, migrations: readonly string[]): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    // Asked again under the lock: another process may have been faster.
    const version = checkedVersion(database, path, migrations.length);
    for (const script of migrations.slice(version)) database.exec(script);
    database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (thrown) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}

function checkedVersion(database: DatabaseSync, path: string, newest: number): number {
  const version = pragma(database, "user_version");
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (!isEmpty && pragma(database, "application_id") !== APPLICATION_ID) {
    throw new Fault("STORE_UNREADABLE", `The file ${path} is the database of another program.`);
  }
  if (version > newest) {
    const message = `The store ${path} has version ${version}; this Vidro knows versions up to ${newest}.`;
    throw new Fault("STORE_NEWER", message, { detail: { found: version, known: newest } });
  }
  return version;
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
