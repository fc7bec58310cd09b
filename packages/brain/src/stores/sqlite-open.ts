import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault, STORE } from "@vidro/core";
import { isOutOfSpace, storeFault } from "./sqlite-fault.ts";
import { INCARNATION_TABLE } from "./sqlite-incarnation.ts";
import { SEAL_TABLES } from "./sqlite-seals.ts";

/** "Vidr" in the file's header: whose database it is. */
const APPLICATION_ID = 0x56_69_64_72;

/**
 * How a store becomes the next version: the script at index n leads from version n to n + 1.
 * A script that was released is never changed; a new one is added behind it.
 *
 * Entries lie in the order in which they were written, not by run: a commit for many runs then touches a few pages at
 * the end of the file instead of a page for each run, which makes it about three times as fast.
 */
export const MIGRATIONS: readonly string[] = [
  `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE run (
    number  INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    thread  TEXT NOT NULL,
    key     TEXT UNIQUE,
    task    TEXT NOT NULL,
    status  TEXT NOT NULL,
    started INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    holder  TEXT,
    until   INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX run_thread ON run (thread, number);
  CREATE INDEX run_open ON run (number) WHERE status IN ('running', 'asking');
  CREATE TABLE entry (
    run  INTEGER NOT NULL,
    seq  INTEGER NOT NULL,
    at   INTEGER NOT NULL,
    body TEXT NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entry_place ON entry (run, seq);
  `,
  // SQLite cannot take UNIQUE off a column, so the table of runs is written anew.
  `
  CREATE TABLE owned_run (
    number  INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    owner   TEXT NOT NULL DEFAULT 'local',
    thread  TEXT NOT NULL,
    key     TEXT,
    task    TEXT NOT NULL,
    status  TEXT NOT NULL,
    started INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    holder  TEXT,
    until   INTEGER NOT NULL,
    UNIQUE (owner, key)
  ) STRICT;
  INSERT INTO owned_run (number, id, thread, key, task, status, started, epoch, holder, until)
    SELECT number, id, thread, key, task, status, started, epoch, holder, until FROM run;
  DROP TABLE run;
  ALTER TABLE owned_run RENAME TO run;
  CREATE INDEX run_thread ON run (thread, number);
  CREATE INDEX run_owner ON run (owner, number);
  CREATE INDEX run_open ON run (number) WHERE status IN ('running', 'asking');
  CREATE TABLE record (
    number  INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    owner   TEXT NOT NULL,
    body    TEXT NOT NULL,
    version INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX record_place ON record (kind, number);
  CREATE INDEX record_owner ON record (kind, owner, number);
  CREATE TABLE record_change (
    kind    TEXT PRIMARY KEY,
    changes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  INCARNATION_TABLE,
  SEAL_TABLES,
];

/** The newest version of a store that this Vidro knows. */
export const STORE_VERSION = MIGRATIONS.length;

/** Opens the database at `path`, made or brought to the newest version if need be; only its owner can read it. */
export function openDatabase(path: string, migrations: readonly string[] = MIGRATIONS): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite gives its side files the mode of the database, so that one has to be right before it starts.
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    database = new DatabaseSync(path, { timeout: STORE.busyMs });
    prepareDatabase(database, path, migrations);
    return database;
  } catch (thrown) {
    database?.close();
    const readable = isOutOfSpace(thrown, path) ? openOnFullDisk(path, migrations.length) : undefined;
    if (readable !== undefined) return readable;
    const fault = storeFault(thrown, path);
    // Damage that shows on opening is the whole store's, not one run's.
    throw fault.code === "JOURNAL_CORRUPT" ? new Fault("STORE_UNREADABLE", fault.message, { cause: thrown }) : fault;
  }
}

/**
 * What is there, to be read, where there is no room for the shared-memory file that opening makes: a connection that
 * has the database to itself needs none. Whatever it tries to write meets the full disk again.
 */
function openOnFullDisk(path: string, newest: number): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: STORE.busyMs });
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
    if (checkedVersion(database, path, newest) === newest) return database;
  } catch {
    // The first fault, that of the full disk, says what is wrong.
  }
  database?.close();
  return undefined;
}

function prepareDatabase(database: DatabaseSync, path: string, migrations: readonly string[]): void {
  // Looked at before anything is written: a store that is not for us stays as it is.
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
