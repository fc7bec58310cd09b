import { writeFileSync } from "node:fs";
import { HAND_LIMITS } from "@vidro/core";
import { findTaggedProcesses } from "./orphans.ts";
import { childrenOf, readOwnMemory, readProcessStat } from "./proc.ts";

/*
 * Bounds the memory of all processes of a command together. It is polled, because a kernel limit counts per process and
 * most hands may not create control groups. If the host runs out of memory between two polls, the kernel kills
 * processes of a command before those of the hand.
 */

/** Every tenth poll also searches for processes that left the tree of the first one, which costs more. */
const WHOLE_LOOK = 10;

/** The highest oom_score_adj: the kernel kills this process first when memory runs out. */
const FIRST_TO_GO = "1000";

/** The processes of a command and their memory limit. */
interface MemoryBound {
  /** The first process. */
  readonly pid: number;
  /** The tag of the command's processes. */
  readonly tag: string;
  /** Memory limit for all of them together. */
  readonly bytes: number;
}

/** Calls `over` once when the processes exceed their memory limit; returns a function that stops the polling. */
export function watchMemory({ pid, tag, bytes }: MemoryBound, over: () => void): () => void {
  preferForOomKill(pid);
  let looks = 0;
  const look = (): void => {
    looks += 1;
    const found =
      looks % WHOLE_LOOK === 0
        ? findTaggedProcesses(tag, readProcessStat(pid)).map((member) => member.pid)
        : descendantsOf(pid);
    const sum = found.reduce((all, one) => all + readOwnMemory(one), 0);
    if (sum <= bytes) return;
    clearInterval(timer);
    over();
  };
  const timer = setInterval(look, HAND_LIMITS.memoryLookMs).unref();
  return () => clearInterval(timer);
}

/** Has the kernel kill a process, and those that it starts from now on, before others when memory runs out. */
export function preferForOomKill(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO);
  } catch {
    // The process has ended, or this system has no oom_score_adj.
  }
}

/** A process and its descendants. */
function descendantsOf(top: number): readonly number[] {
  const found = [top];
  for (let next = 0; next < found.length; next += 1) found.push(...childrenOf(found[next] ?? top));
  return found;
}
