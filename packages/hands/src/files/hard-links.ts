import { lstatSync, readdirSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";

/*
 * A hard link is a second name of a file and cannot be recognised by that name. Files of the hand's own state are
 * recognised by device and inode, so that none is read under a name outside of the state. A file in the workspace that
 * has a link elsewhere, or another owner, does not belong to the workspace.
 */

/** The name that a hard-linked file has in a state folder; undefined if it has none there. */
export function findLinkIn(path: string, state: string): string | undefined {
  const key = hardLinkKey(path);
  return key === undefined ? undefined : findHardLinks(state).get(key)?.[0];
}

/** The inode key of a file that has several names; undefined for any other. */
export function hardLinkKey(path: string): string | undefined {
  const stat = lstatIfAny(path);
  return stat === undefined || !isHardLinked(stat) ? undefined : inodeKey(stat);
}

/** Whether the file at a path in the workspace has no link outside of it and no other owner. */
export function isWorkspacePath(path: string, workspace: string): boolean {
  const stat = lstatIfAny(path);
  return stat === undefined || isWorkspaceFile(stat, workspace);
}

/** The same for the stat of an opened file; `twins` are the hard links in the workspace, if known. */
export function isWorkspaceFile(stat: BigIntStats, workspace: string, twins?: HardLinks): boolean {
  if (!isHardLinked(stat)) return true;
  if (stat.uid !== lstatIfAny(workspace)?.uid) return false;
  const names = (twins ?? findHardLinks(workspace)).get(inodeKey(stat)) ?? [];
  return BigInt(names.length) >= stat.nlink;
}

/** The lstat of a path; undefined if it cannot be read, because then the file cannot be opened either. */
function lstatIfAny(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Whether a regular file has more than one name. */
export function isHardLinked(stat: BigIntStats): boolean {
  return stat.isFile() && stat.nlink > 1n;
}

/** Device and inode of a file. */
export function inodeKey(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

/** Names of hard-linked files, by device and inode. */
export type HardLinks = ReadonlyMap<string, readonly string[]>;

/** Hard-linked files below a folder, with their names there. */
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
    // An unreadable folder adds no names, so that a file counts as foreign rather than as the workspace's.
    return [];
  }
}
