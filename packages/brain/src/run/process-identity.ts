import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { LeaseHolder } from "@vidro/core";

/** This process, as others on this host can tell it dead from alive. */
export function thisHolder(): LeaseHolder {
  own ??= { host: hostname(), boot: pidWorld(), pid: process.pid, started: startOf(process.pid)?.started ?? "" };
  return own;
}

/** Whether a holder may still be at work: false only when it is certain that it is not. */
export function isAlive(holder: LeaseHolder): boolean {
  const here = thisHolder();
  // A pid of another host, boot or pid namespace says nothing here; only its lease can run out.
  if (holder.host !== here.host || holder.boot !== here.boot) return true;
  if (!hasProcess(holder.pid)) return false;
  const found = startOf(holder.pid);
  // Without a readable /proc (another system, or hidepid) the pid is all that is known.
  if (found === undefined || holder.started === "") return true;
  return !found.gone && found.started === holder.started;
}

/** Whether two names mean one process. */
export function isSameHolder(one: LeaseHolder, other: LeaseHolder): boolean {
  return one.host === other.host && one.boot === other.boot && one.pid === other.pid && one.started === other.started;
}

let own: LeaseHolder | undefined;

/** Where pids mean the same thing: one boot of one kernel, seen from one pid namespace; empty where neither is known. */
function pidWorld(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it is there, and it is not ours.
    return !(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH");
  }
}

function startOf(pid: number): { readonly started: string; readonly gone: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name may contain blanks and brackets: the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const started = fields[19];
    // A killed process that its parent has not collected yet still has a pid, and will never do anything again.
    return started === undefined ? undefined : { started, gone: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}
