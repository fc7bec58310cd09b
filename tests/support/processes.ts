import { readdirSync, readlinkSync } from "node:fs";

/** Pids of the processes whose working folder lies in a folder. */
export function processesIn(folder: string): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}
