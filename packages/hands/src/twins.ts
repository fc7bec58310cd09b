import { lstatSync, readdirSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { HAND } from "@vidro/core";

/*
 * A hard link is a second name of a file, and nothing in the name tells. Files of the hand's own state are told by
 * what they are on the disk, so that none of them is read by a name outside of the state.
 */

/** The name in the state folder of a file that has several names; undefined when it has none there. */
export function stateTwin(path: string, state: string): string | undefined {
  const stat = look(path);
  return stat === undefined || !isShared(stat) ? undefined : stateFiles(state).get(identity(stat));
}

/** What is at a path; nothing where it cannot be looked at, since then it cannot be opened either. */
function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Whether a file has more than one name. */
export function isShared(stat: BigIntStats): boolean {
  return stat.isFile() && stat.nlink > 1n;
}

/** What a file is on the disk, whatever its names. */
export function identity(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

/** The files below the state folder that have several names, by identity. */
export function stateFiles(state: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const folders = [state];
  let left: number = HAND.searchFiles;
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const stat = look(path);
      left -= 1;
      if (stat?.isDirectory() === true) folders.push(path);
      else if (stat !== undefined && isShared(stat)) files.set(identity(stat), path);
    }
  }
  return files;
}
