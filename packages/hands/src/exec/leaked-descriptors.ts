import { openSync, readdirSync, readFileSync } from "node:fs";
import type { IOType } from "node:child_process";

/*
 * A descriptor that this process inherited without close-on-exec would be inherited by every command as well, and a
 * sandbox does not stop a command from using a file or folder that is already open. Node marks the first descriptors of
 * a process and opens its own with close-on-exec; what is left are those with higher numbers that its parent left open.
 * They belong to the embedding program, so they are not closed here: a child gets /dev/null in the place of each.
 */

/** One entry of the stdio option of `spawn`. */
type StdioEntry = IOType | number;

const CLOSE_ON_EXEC = 0o2000000;
const FIRST_BEYOND_STDIO = 3;

let known: readonly number[] | undefined;
let nothing: number | undefined;

/** The stdio of a child that gets these descriptors and no other one that works. */
export function withoutLeaks<Entry extends StdioEntry>(stdio: readonly Entry[]): (Entry | StdioEntry)[] {
  known ??= openDescriptors().filter(isInheritable);
  const leaks = known.filter((descriptor) => descriptor >= stdio.length && isInheritable(descriptor));
  if (leaks.length === 0) return [...stdio];
  const all = Array.from<Entry | StdioEntry>({ length: Math.max(...leaks) + 1 }).fill("ignore");
  for (const [descriptor, entry] of stdio.entries()) all[descriptor] = entry;
  for (const descriptor of leaks) all[descriptor] = nothing ??= openSync("/dev/null", "r");
  return all;
}

/** Descriptors of this process beyond its stdio; none on a system without /proc, which has no sandbox either. */
function openDescriptors(): readonly number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((descriptor) => descriptor >= FIRST_BEYOND_STDIO);
  } catch {
    return [];
  }
}

/** Whether a child of this process would inherit a descriptor; one that is closed by now is inherited by none. */
function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/mu.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
