import { chmodSync, closeSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";

/*
 * Files and folders of Vidro's own state are closed to other users of the host, also where they were there before or
 * the process makes files that others may read.
 */

const OPEN_TO_OTHERS = 0o077;

/** Makes a database file closed to others; those that SQLite makes beside it get its mode. */
export function closeFileToOthers(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
}

/** Makes a folder if it is not there, and closes it to others; gives its real path. */
export function makeOwnFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if ((statSync(path).mode & OPEN_TO_OTHERS) !== 0) chmodSync(path, 0o700);
  return realpathSync(path);
}
