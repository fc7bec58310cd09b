import { accessSync, constants, lstatSync, readdirSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";

/*
 * Policy gives out only files that every user of the host may read. A hand that runs as root, or whose user is in a
 * group such as adm, can read more; files that it can read only for that reason are closed to others.
 */

const READ_BY_OTHERS = 0o004;
const ENTERED_BY_OTHERS = 0o001;

/** Whether other users of the host may not read a real path, or may not enter a folder above it. */
export function isClosedToOthers(path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    if (!isOpen(stat)) return true;
    for (let folder = dirname(path), below = path; folder !== below; below = folder, folder = dirname(folder))
      if ((statSync(folder).mode & ENTERED_BY_OTHERS) === 0) return true;
    return false;
  } catch {
    // Closed even to this process.
    return true;
  }
}

function isOpen(stat: Stats): boolean {
  const needed = stat.isDirectory() ? READ_BY_OTHERS | ENTERED_BY_OTHERS : READ_BY_OTHERS;
  return (stat.mode & needed) === needed;
}

/** The content of a folder at the time of a scan. */
interface FolderSnapshot {
  /** Inode and times of the folder, which change when a name is added or removed. */
  readonly mark: string;
  readonly folders: readonly string[];
  readonly closed: readonly string[];
}

/**
 * Files and folders below open folders that are closed to others but readable by this process; the content of a closed
 * folder is not listed.
 */
export class ClosedPaths {
  #seen = new Map<string, FolderSnapshot>();
  #seenAt = Number.NEGATIVE_INFINITY;

  /** Closed paths below an open folder; empty if the folder does not exist. */
  below(folder: string): readonly string[] {
    // A changed mode of a file does not change its folder's times, so everything is scanned again periodically.
    if (performance.now() - this.#seenAt > HAND_LIMITS.closedMs) {
      this.#seen = new Map();
      this.#seenAt = performance.now();
    }
    return this.#walk(folder);
  }

  #walk(folder: string): readonly string[] {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true) return [];
    const mark = `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`;
    let seen = this.#seen.get(folder);
    if (seen?.mark !== mark) this.#seen.set(folder, (seen = { mark, ...scanFolder(folder) }));
    return [...seen.closed, ...seen.folders.flatMap((path) => this.#walk(path))];
  }
}

function scanFolder(folder: string): Omit<FolderSnapshot, "mark"> {
  const [folders, closed]: [string[], string[]] = [[], []];
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // The target of a symlink is scanned under its own name.
    if (stat === undefined || stat.isSymbolicLink()) continue;
    if (!isOpen(stat)) closed.push(...(isReachable(path) ? [path] : []));
    else if (stat.isDirectory()) folders.push(path);
  }
  return { folders, closed };
}

/** Whether this process can read a path or enter it. */
function isReachable(path: string): boolean {
  return [constants.R_OK, constants.X_OK].some((right) => {
    try {
      accessSync(path, right);
      return true;
    } catch {
      return false;
    }
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Removed meanwhile, or closed to this process as well.
    return [];
  }
}
