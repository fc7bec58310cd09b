import { readdirSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";

/* What the system says of this process and of the disk that its state is on. */

/** The room of a file system. */
export interface DiskRoom {
  readonly totalBytes: number;
  readonly usedBytes: number;
  /** What a process that is not root may still use. */
  readonly freeBytes: number;
}

/** How many descriptors a process has open; `exhausted` when it cannot open one more, even to look. */
export type Descriptors = { readonly open: number; readonly limit: number } | "exhausted";

/** The room of the file system that a folder is on; nothing when the system does not say. */
export async function diskRoom(folder: string): Promise<DiskRoom | undefined> {
  try {
    const { blocks, bfree, bavail, bsize } = await statfs(folder);
    return { totalBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize, freeBytes: bavail * bsize };
  } catch {
    return undefined;
  }
}

/** The descriptors of this process; nothing where the system does not count them. */
export function openDescriptors(): Descriptors | undefined {
  try {
    // The one that looks is counted, too.
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
