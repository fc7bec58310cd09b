import { readFileSync, writeFileSync } from "node:fs";
import { HAND_LIMITS } from "@vidro/core";
import { findTaggedProcesses } from "./orphans.ts";
import { readOwnMemory, readProcessStat } from "./proc.ts";

/*
 * All processes of a command together have a bound on their memory. It is watched, since a limit of the kernel's counts
 * for each process alone, and a control group is nothing that most hands may make. Should the host run out of memory
 * before the next look, the kernel ends processes of a command before those of the hand.
 */

/** Every so many looks, processes that left the tree of the first one are looked for as well, which costs more. */
const WHOLE_LOOK = 10;

/** The highest wish to be ended first when memory runs out. */
const FIRST_TO_GO = "1000";

/** Whose memory is watched. */
interface MemoryBound {
  /** The first process. */
  readonly pid: number;
  /** What all of them carry. */
  readonly tag: string;
  /** What they may have together. */
  readonly bytes: number;
}

/** Calls `over` once when the processes have more memory than they may; gives what ends the watch. */
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

function preferForOomKill(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO);
  } catch {
    // It has ended already, or this system knows no such wish.
  }
}

/** A process and what descends from it. */
function descendantsOf(top: number): readonly number[] {
  const found = [top];
  for (let next = 0; next < found.length; next += 1) found.push(...childrenOf(found[next] ?? top));
  return found;
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
