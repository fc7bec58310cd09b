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
export function findLinkIn(path: string, state: string): string | undefined {
  const stat = lstatIfAny(path);
  return stat === undefined || !isHardLinked(stat) ? undefined : findHardLinks(state).get(inodeKey(stat))?.[0];
}

/** Whether the file at a path in the workspace is one of the workspace, and of no other place or owner. */
export function isWorkspacePath(path: string, workspace: string): boolean {
  const stat = lstatIfAny(path);
  return stat === undefined || isWorkspaceFile(stat, workspace);
}

/** The same of a file that was opened; `twins` are those in the workspace. */
export function isWorkspaceFile(stat: BigIntStats, workspace: string, twins?: HardLinks): boolean {
  if (!isHardLinked(stat)) return true;
  if (stat.uid !== lstatIfAny(workspace)?.uid) return false;
  const names = (twins ?? findHardLinks(workspace)).get(inodeKey(stat)) ?? [];
  return BigInt(names.length) >= stat.nlink;
}

/** What is at a path; nothing where it cannot be looked at, since then it cannot be opened either. */
function lstatIfAny(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Whether a file has more than one name. */
export function isHardLinked(stat: BigIntStats): boolean {
  return stat.isFile() && stat.nlink > 1n;
}

/** What a file is on the disk, whatever its names. */
export function inodeKey(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

/** Names of files that have several, by identity. */
export type HardLinks = ReadonlyMap<string, readonly string[]>;

/** The files below a folder that have several names, with those that they have there. */
export function findHardLinks(top: string): HardLinks {
  const files = new Map<string, string[]>();
  const folders = [top];
  let left: number = HAND_LIMITS.searchFiles;
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const stat = lstatIfAny(path);
      left -= 1;
      if (stat?.isDirectory() === true) folders.push(path);
      else if (stat !== undefined && isHardLinked(stat)) {
        const id = inodeKey(stat);
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
