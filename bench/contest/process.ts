import { readFileSync } from "node:fs";

/** The memory of a process in MB, as far as the system tells. */
export function rssMbOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(factsOf(pid, "status"))?.[1]) / 1024;
}

/** The time that all threads of a process took so far, as far as the system tells; it counts in hundredths of a second. */
export function cpuMsOf(pid: number): number {
  // The name of the process is the only field with blanks, and stands in brackets.
  const fields = factsOf(pid, "stat").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
}

const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const TICK_MS = 10;

function factsOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // It is gone already, or this is not Linux.
  }
}
