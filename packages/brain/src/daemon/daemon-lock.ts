import { chmodSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { DAEMON_LIMITS, Fault } from "@vidro/core";
import { claimDaemonFile, readDaemonFile, removeDaemonFile } from "./daemon-file.ts";
import { makeFolder } from "./home-folder.ts";
import { isBusy, isNoDatabase, storeFault } from "../stores/sqlite/fault.ts";

/** The lock that makes a process the daemon of a home. */
interface DaemonPlace {
  /** Releases the lock; does nothing when it is released already. */
  leave(): Promise<void>;
}

/**
 * Makes this process the only daemon of a home and writes its file; HOME_BUSY names the process that is the daemon.
 *
 * The lock is the kernel's, on the file `daemon.lock`, taken by SQLite as the right to write to an empty database: it
 * ends with its process whatever ends that, holds in every pid namespace that shares the file system, and no child
 * inherits it. The content of the file has no meaning. The file is never removed, since a second file of the same name
 * would be a second lock, and no other code of this process opens it, since closing it there would end the lock.
 */
export async function holdHome(home: string): Promise<DaemonPlace> {
  const database = lock(home, join(home, "daemon.lock"));
  if (database === undefined) throw await homeBusy(home);
  try {
    await claimDaemonFile(home);
  } catch (thrown) {
    database.close();
    throw storeFault(thrown, home);
  }
  let left: Promise<void> | undefined;
  return {
    leave: () => (left ??= removeDaemonFile(home).finally(() => database.close())),
  };
}

/** Takes the lock and gives its database; undefined when another process has it. */
function lock(home: string, path: string): DatabaseSync | undefined {
  try {
    makeFolder(home);
    const database = takeAnew(path);
    // By its name, not by a descriptor: closing one would end the lock.
    chmodSync(path, 0o600);
    return database;
  } catch (thrown) {
    if (isBusy(thrown)) return undefined;
    throw storeFault(thrown, path);
  }
}

function takeAnew(path: string): DatabaseSync {
  try {
    return take(path);
  } catch (thrown) {
    if (!isNoDatabase(thrown)) throw thrown;
    // SQLite reads the file only when no other process holds the lock, so this takes it from no daemon.
    truncateSync(path);
    return take(path);
  }
}

function take(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever committed; with the journal in memory, no file is left beside it.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

async function homeBusy(home: string): Promise<Fault> {
  const { pid, host, url } = await holderOf(home);
  const who = pid === undefined ? "Another process" : `Process ${pid} on ${host}`;
  const does =
    url === undefined ? "is the daemon of this home and is starting" : `is the daemon of this home, at ${url}`;
  const detail = { ...(pid === undefined ? {} : { pid }), ...(url === undefined ? {} : { url }) };
  return new Fault("HOME_BUSY", `${who} ${does}. Use that one, or end it first.`, { detail });
}

/** The process that has the lock, once it has written the daemon file: a file of a dead daemon does not count. */
async function holderOf(home: string): Promise<ReturnType<typeof readDaemonFile>> {
  for (let tries = 0; tries < DAEMON_LIMITS.namedTries; tries += 1) {
    const found = readDaemonFile(home);
    if (found.pid !== undefined) return found;
    await sleep(DAEMON_LIMITS.namedMs);
  }
  return {};
}
