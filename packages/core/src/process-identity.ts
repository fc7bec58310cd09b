import type { LeaseHolder } from "./ports.ts";

/*
 * What tells a process from all others, also from those that get its pid later. A lease, a ledger and a daemon's file
 * keep the identity of the process that holds them.
 */

/** What is asked of the system; all but `hasProcess` throw when it does not tell. */
export interface ProcessSystem {
  readonly hostname: () => string;
  readonly pid: number;
  readonly read: (path: string) => string;
  readonly readLink: (path: string) => string;
  /** Whether a process of that pid is there, be it ours or not. */
  readonly hasProcess: (pid: number) => boolean;
}

/** Whether a process is at work: `elsewhere` is another host, boot or pid namespace, of which this one cannot tell. */
export type ProcessStanding = "alive" | "dead" | "elsewhere";

/** The identity of the process that asks. */
export function ownIdentity(system: ProcessSystem): LeaseHolder {
  const { pid } = system;
  return { host: system.hostname(), boot: pidWorld(system), pid, started: startOf(pid, system)?.started ?? "" };
}

/** Whether the process of an identity is at work, as far as the process of `here` can tell. */
export function standingOf(holder: LeaseHolder, here: LeaseHolder, system: ProcessSystem): ProcessStanding {
  if (holder.host !== here.host || holder.boot !== here.boot) return "elsewhere";
  if (!system.hasProcess(holder.pid)) return "dead";
  const found = startOf(holder.pid, system);
  // Without a readable /proc (another system, or hidepid) the pid is all that is known.
  if (found === undefined || holder.started === "") return "alive";
  return !found.gone && found.started === holder.started ? "alive" : "dead";
}

/** Whether two identities mean one process. */
export function isSameProcess(one: LeaseHolder, other: LeaseHolder): boolean {
  return one.host === other.host && one.boot === other.boot && one.pid === other.pid && one.started === other.started;
}

/** Where pids mean the same thing: one boot of one kernel, seen from one pid namespace; empty where neither is known. */
function pidWorld({ read, readLink }: ProcessSystem): string {
  try {
    return `${read("/proc/sys/kernel/random/boot_id").trim()} ${readLink("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

function startOf(
  pid: number,
  { read }: ProcessSystem,
): { readonly started: string; readonly gone: boolean } | undefined {
  try {
    const stat = read(`/proc/${pid}/stat`);
    // The program's name may contain blanks and brackets: the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const started = fields[19];
    // A killed process that its parent has not collected yet still has a pid, and will never do anything again.
    return started === undefined ? undefined : { started, gone: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}
