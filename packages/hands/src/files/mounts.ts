import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isWithin } from "./is-within.ts";

/** A mount of this process's namespace. */
export interface MountEntry {
  /** Where it is. */
  readonly at: string;
  /** The folder of its file system that is mounted. */
  readonly root: string;
  /** Major and minor number of the file system, as `major:minor`. */
  readonly device: string;
  readonly type: string;
}

/** The mounts of this process at a moment. */
export interface MountTable {
  readonly text: string;
  /** Parsed at each access. */
  readonly entries: readonly MountEntry[];
}

/** The table of mounts of this process; empty on a system that has none. */
export function readMounts(): MountTable {
  let text = "";
  try {
    text = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    // Not Linux, or no /proc.
  }
  return {
    text,
    get entries() {
      return text.split("\n").flatMap(parseEntry);
    },
  };
}

function parseEntry(line: string): readonly MountEntry[] {
  const [before = "", after = ""] = line.split(" - ");
  const [, , device, root, at] = before.split(" ");
  const [type] = after.split(" ");
  if (device === undefined || root === undefined || at === undefined || type === undefined) return [];
  return [{ at: unescapePath(at), root: unescapePath(root), device, type }];
}

/** The kernel writes blanks and backslashes of a path as octal numbers. */
function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Other paths of a folder: those by which further mounts of its file system show it. */
export function findMountAliases(folder: string, mounts: readonly MountEntry[]): readonly string[] {
  const around = mounts.filter(({ at }) => isWithin(at, folder));
  const own = around.reduce<MountEntry | undefined>(
    (best, entry) => (best === undefined || entry.at.length >= best.at.length ? entry : best),
    undefined,
  );
  if (own === undefined) return [];
  const inside = join(own.root, relative(own.at, folder));
  return mounts
    .filter(({ device, root }) => device === own.device && isWithin(root, inside))
    .map(({ at, root }) => join(at, relative(root, inside)))
    .filter((path) => path !== folder && isSameFolder(path, folder));
}

/** Whether two paths lead to the same folder; a mount that another one hides shows nothing. */
function isSameFolder(one: string, other: string): boolean {
  try {
    const [first, second] = [statSync(one, { bigint: true }), statSync(other, { bigint: true })];
    return first.dev === second.dev && first.ino === second.ino;
  } catch {
    return false;
  }
}
