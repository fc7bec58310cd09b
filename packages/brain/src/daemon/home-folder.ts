import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { Fault } from "@vidro/core";

const OPEN_TO_OTHERS = 0o077;

/** Entries by which a folder is recognised as a home: it has at least one of them. */
const HOME_ENTRIES = new Set(
  "journal.db audit-key token hand joined config.json policy.json tokens.json agents ca".split(" "),
);

/**
 * Makes the home of a brain if it does not exist, and removes the permissions of other users. Throws STORE_UNREADABLE
 * when it cannot be made, and for a folder that is open to other users and has only entries that are not Vidro's.
 */
export async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
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
