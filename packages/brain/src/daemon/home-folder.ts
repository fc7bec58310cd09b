import { mkdirSync, statSync } from "node:fs";
import { chmod, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "@vidro/core";

const OPEN_TO_OTHERS = 0o077;

/** Entries by which a folder is recognised as a home: it has at least one of them. */
const HOME_ENTRIES = new Set(
  "journal.db audit-key token hand joined config.json policy.json mcp.json tokens.json agents ca".split(" "),
);

/**
 * Makes the home of a brain if it does not exist, and removes the permissions of other users. Throws STORE_UNREADABLE
 * when it cannot be made, and for a folder that is open to other users and has only entries that are not Vidro's.
 */
export async function makeHome(home: string): Promise<void> {
  try {
    makeFolder(home);
    if (((await stat(home)).mode & OPEN_TO_OTHERS) === 0) return;
    // The daemon writes its lock and its log before it calls this.
    const names = (await readdir(home)).filter((name) => !name.startsWith("daemon."));
    if (names.length === 0 || names.some((name) => HOME_ENTRIES.has(name))) return await chmod(home, 0o700);
  } catch (cause) {
    throw new Fault("STORE_UNREADABLE", `${home} cannot be made: ${(cause as Error).message}`, { cause });
  }
  throw new Fault(
    "STORE_UNREADABLE",
    `${home} is open to other users and holds files that are not Vidro's: name another folder in VIDRO_HOME, or close it with chmod 700.`,
  );
}

/**
 * Makes a folder and those above it. Node's own `recursive` never ends where the system says that a folder is not there
 * although the one above it is, as below /proc.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    // Another process may have made it in between.
    if (!isFolder(path)) throw cause;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
