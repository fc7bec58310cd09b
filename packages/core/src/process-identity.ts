import type { LeaseHolder } from "./ports.ts";

/*
 * The identity of a process, which distinguishes it from a later process with the same pid. A lease, a ledger and a
 * daemon's file store the identity of the process that holds them.
 */

/** The calls to the operating system; each throws when it fails or the information is not available. */
export interface ProcessSystem {
  readonly hostname: () => string;
  readonly pid: number;
  readonly read: (path: string) => string;
  readonly readLink: (path: string) => string;
  /** Sends a signal; signal 0 only checks that the process exists. */
  readonly kill: (pid: number, signal: 0) => unknown;
}

/** `elsewhere`: on another host, boot or pid namespace, where this process cannot check it. */
export type ProcessStanding = "alive" | "dead" | "elsewhere";

/** The identity of this process. */
export function ownIdentity(system: ProcessSystem): LeaseHolder {
  const { pid } = system;
  return { host: system.hostname(), boot: pidWorld(system), pid, started: startOf(pid, system)?.started ?? "" };
}

/** Whether the process of `holder` lives, as seen from the process `here`. */
export function standingOf(holder: LeaseHolder, here: LeaseHolder, system: ProcessSystem): ProcessStanding {
  if (holder.host !== here.host || holder.boot !== here.boot) return "elsewhere";
  if (!hasProcess(holder.pid, system)) return "dead";
  const found = startOf(holder.pid, system);
  // Without a readable /proc (another system, or hidepid) the pid is all that is known.
  if (found === undefined || holder.started === "") return "alive";
  return !found.gone && found.started === holder.started ? "alive" : "dead";
}

/** Whether a process with that pid exists, of any user. */
function hasProcess(pid: number, { kill }: ProcessSystem): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (thrown) {
    // Any other code, such as EPERM, is about a process that exists.
    return !(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH");
  }
}

/** Whether two identities are of the same process. */
export function isSameProcess(one: LeaseHolder, other: LeaseHolder): boolean {
  return one.host === other.host && one.boot === other.boot && one.pid === other.pid && one.started === other.started;
}

/** Boot id and pid namespace, within which a pid is unique; empty where they are not available. */
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
    // The program's name may contain blanks and brackets, so the fields are counted behind its closing bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const started = fields[19];
    // A zombie still has a pid but does no work any more.
    return started === undefined ? undefined : { started, gone: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}
