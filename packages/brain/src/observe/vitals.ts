import { readdirSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";

/* Measurements of this process and of the disk that holds its state. */

/** Size and free space of a file system. */
export interface DiskRoom {
  readonly totalBytes: number;
  readonly usedBytes: number;
  /** Free for processes that are not root. */
  readonly freeBytes: number;
}

/** Open descriptors of a process and their limit; `exhausted` when not even one is free for this check. */
export type Descriptors = { readonly open: number; readonly limit: number } | "exhausted";

/** Size and free space of the file system of a folder; undefined when the system does not say. */
export async function diskRoom(folder: string): Promise<DiskRoom | undefined> {
  try {
    const { blocks, bfree, bavail, bsize } = await statfs(folder);
    return { totalBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize, freeBytes: bavail * bsize };
  } catch {
    return undefined;
  }
}

/** The descriptors of this process; undefined where the system does not count them. */
export function openDescriptors(): Descriptors | undefined {
  try {
    // Includes the descriptor of this check.
    const open = readdirSync("/proc/self/fd").length - 1;
    const [, soft = ""] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return { open, limit: soft === "unlimited" ? Infinity : Number(soft) };
  } catch (thrown) {
    return isOutOfDescriptors(thrown) ? "exhausted" : undefined;
  }
}

/** Whether something failed because the process, or the system, has no descriptor left. */
function isOutOfDescriptors(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && (thrown.code === "EMFILE" || thrown.code === "ENFILE");
}
