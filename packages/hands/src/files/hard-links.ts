import { lstatSync, readdirSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";

/*
 * A hard link is a second name of a file, and nothing in the name tells. Files of the hand's own state are told by
 * what they are on the disk, so that none of them is read by a name outside of the state; and a file in the workspace
 * that has a name elsewhere, or another owner than the workspace, is not one of the workspace.
 */

/** The name in the state folder of a file that has several names; undefined when it has none there. */
export function stateTwin(path: string, state: string): string | undefined {
  const stat = look(path);
  return stat === undefined || !isShared(stat) ? undefined : twinsIn(state).get(identity(stat))?.[0];
}

/** Whether the file at a path in the workspace is one of the workspace, and of no other place or owner. */
export function isOwn(path: string, workspace: string): boolean {
  const stat = look(path);
  return stat === undefined || isOwnFile(stat, workspace);
}

/** The same of a file that was opened; `twins` are those in the workspace. */
export function isOwnFile(stat: BigIntStats, workspace: string, twins?: Twins): boolean {
  if (!isShared(stat)) return true;
  if (stat.uid !== look(workspace)?.uid) return false;
  const names = (twins ?? twinsIn(workspace)).get(identity(stat)) ?? [];
  return BigInt(names.length) >= stat.nlink;
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

/** Names of files that have several, by identity. */
export type Twins = ReadonlyMap<string, readonly string[]>;

/** The files below a folder that have several names, with those that they have there. */
export function twinsIn(top: string): Twins {
  const files = new Map<string, string[]>();
  const folders = [top];
  let left: number = HAND_LIMITS.searchFiles;
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const stat = look(path);
      left -= 1;
      if (stat?.isDirectory() === true) folders.push(path);
      else if (stat !== undefined && isShared(stat)) {
        const id = identity(stat);
        files.set(id, [...(files.get(id) ?? []), path]);
      }
    }
  }
  return files;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A folder that cannot be listed adds no name: a file counts as foreign rather than as one's own.
    return [];
  }
}
