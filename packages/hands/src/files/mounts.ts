import { readFileSync } from "node:fs";

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

/** The table of mounts of this process, as text and as entries; empty on a system that has none. */
export function readMounts(): { readonly text: string; readonly entries: readonly MountEntry[] } {
  let text = "";
  try {
    text = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    // Not Linux, or no /proc.
  }
  return { text, entries: text.split("\n").flatMap(parseEntry) };
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
