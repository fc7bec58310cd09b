import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { LeaseHolder } from "@vidro/core";
import { processStat } from "../exec/proc.ts";

/** What stands for a fact that this system does not tell. */
const UNTOLD = "-";

let self: LeaseHolder | undefined;

/** This process, told so that another one on this host can see later whether it still lives. */
export function thisProcess(): LeaseHolder {
  self ??= { host: hostname(), boot: bootId(), pid: process.pid, started: startOf(process.pid) ?? UNTOLD };
  return self;
}

/**
 * Whether a process lives, as far as this host can tell; one of another host or of an earlier boot counts as dead,
 * and so does a pid that was given to somebody else since.
 */
export function isAlive(holder: LeaseHolder): boolean {
  const here = thisProcess();
  if (holder.host !== here.host || holder.boot !== here.boot) return false;
  if (holder.started === UNTOLD) return answers(holder.pid);
  return startOf(holder.pid) === holder.started;
}

function startOf(pid: number): string | undefined {
  const stat = processStat(pid);
  // A zombie is dead: it holds its pid only until its parent looks.
  return stat === undefined || stat.state === "Z" ? undefined : String(stat.startTicks);
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return UNTOLD;
  }
}

function answers(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
