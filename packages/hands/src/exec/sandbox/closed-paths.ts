import { accessSync, constants, lstatSync, readdirSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";

/*
 * What every user of a host may know is what every user may read. A hand that runs as root, or whose user is in a group
 * such as adm, may read more than that; what it may read by that alone is closed to others.
 */

const READ_BY_OTHERS = 0o004;
const ENTERED_BY_OTHERS = 0o001;

/** Whether a real path is, or lies in, something that other users of the host may not read. */
export function isClosedToOthers(path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    if (!isOpen(stat)) return true;
    for (let folder = dirname(path), below = path; folder !== below; below = folder, folder = dirname(folder))
      if ((statSync(folder).mode & ENTERED_BY_OTHERS) === 0) return true;
    return false;
  } catch {
    // It is closed even to us.
    return true;
  }
}

function isOpen(stat: Stats): boolean {
  const needed = stat.isDirectory() ? READ_BY_OTHERS | ENTERED_BY_OTHERS : READ_BY_OTHERS;
  return (stat.mode & needed) === needed;
}

/** What a folder held when it was looked at. */
interface FolderSnapshot {
  /** Times of the folder itself: a name that comes or goes changes them. */
  readonly mark: string;
  readonly folders: readonly string[];
  readonly closed: readonly string[];
}

/**
 * The closed files and folders below open folders that this process can read all the same, as few names as say it;
 * what lies in a closed folder is not told.
 */
export class ClosedPaths {
  #seen = new Map<string, FolderSnapshot>();
  #seenAt = Number.NEGATIVE_INFINITY;

  /** Those below a folder that is open itself; nothing for one that is not there. */
  below(folder: string): readonly string[] {
    // The mode of a file changes no time of its folder, so all is looked at anew now and then.
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
    // A symlink opens nothing that is not seen by its own name.
    if (stat === undefined || stat.isSymbolicLink()) continue;
    if (!isOpen(stat)) closed.push(...(isReachable(path) ? [path] : []));
    else if (stat.isDirectory()) folders.push(path);
  }
  return { folders, closed };
}

/** Whether this process can read something, or reach what lies in it. */
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
    // It is gone by now, or closed to us as well.
    return [];
  }
}
