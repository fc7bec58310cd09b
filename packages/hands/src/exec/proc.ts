import { readFileSync, readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { Fault } from "@vidro/core";

/*
 * Reads /proc. A process that ends between two reads is left out of the result.
 */

/** Clock ticks per second (USER_HZ), 100 on every Linux architecture that Node supports. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** Fields of /proc/<pid>/stat. */
export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  readonly cpuTicks: number;
  /** Ticks since boot; with the pid it identifies a process until the next boot. */
  readonly startTicks: number;
  readonly rssPages: number;
}

/** A process as ps lists it. */
export interface ProcessListing {
  readonly pid: number;
  readonly ppid: number;
  readonly user: string;
  readonly name: string;
  readonly cmd: string;
  readonly state: string;
  /** Share of one core over the life of the process. */
  readonly cpuPercent: number;
  readonly memRssBytes: number;
}

/** Ascending comparisons of processes, and the direction in which people expect each: the largest use first. */
const ORDERS = {
  cpu: { compare: (a, b) => a.cpuPercent - b.cpuPercent, natural: "desc" },
  mem: { compare: (a, b) => a.memRssBytes - b.memRssBytes, natural: "desc" },
  pid: { compare: (a, b) => a.pid - b.pid, natural: "asc" },
  name: { compare: (a, b) => a.name.localeCompare(b.name), natural: "asc" },
} as const satisfies Record<
  string,
  { readonly compare: (a: ProcessListing, b: ProcessListing) => number; readonly natural: "asc" | "desc" }
>;

/** The processes in that order; without a direction, in the natural one. */
export function sortProcesses(
  processes: readonly ProcessListing[],
  by: keyof typeof ORDERS,
  direction?: "asc" | "desc",
): ProcessListing[] {
  const { compare, natural } = ORDERS[by];
  const sign = (direction ?? natural) === "asc" ? 1 : -1;
  return processes.toSorted((a, b) => sign * compare(a, b));
}

/** The pids of all processes; empty on a system without /proc. */
export function listPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** The stat of a process; undefined if it has ended. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** Resident memory of a process without file-backed pages; 0 if it has ended. */
export function readOwnMemory(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ").map(Number);
    return (resident - shared) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** The pids of a process's children; empty if it has ended, or the kernel does not tell. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** One variable of a process's initial environment; undefined if unset or not readable. */
export function readProcessVariable(pid: number, name: string): string | undefined {
  try {
    const environ = readFileSync(`/proc/${pid}/environ`, "latin1");
    const at = environ.startsWith(`${name}=`) ? 0 : environ.indexOf(`\0${name}=`) + 1;
    if (at === 0 && !environ.startsWith(`${name}=`)) return undefined;
    const start = at + name.length + 1;
    const end = environ.indexOf("\0", start);
    return environ.slice(start, end === -1 ? undefined : end);
  } catch {
    return undefined;
  }
}

/** Every process of the host. */
export async function listProcesses(): Promise<ProcessListing[]> {
  const uptimeSeconds = Number((await readProc("/proc/uptime")).split(" ")[0]);
  const users = userNames();
  const rows: ProcessListing[] = [];
  for (const pid of listPids()) {
    const stat = readProcessStat(pid);
    if (stat === undefined) continue;
    const ageSeconds = Math.max(uptimeSeconds - stat.startTicks / TICKS_PER_SECOND, 1 / TICKS_PER_SECOND);
    rows.push({
      pid,
      ppid: stat.ppid,
      user: ownerOf(pid, users),
      name: stat.name,
      cmd: commandLine(pid) || `[${stat.name}]`,
      state: stat.state,
      cpuPercent: Math.round((stat.cpuTicks / TICKS_PER_SECOND / ageSeconds) * 1000) / 10,
      memRssBytes: stat.rssPages * PAGE_BYTES,
    });
  }
  return rows;
}

/** The name of the system, once it was read: it does not change while a process runs. */
let systemName: string | undefined;

/** PRETTY_NAME of /etc/os-release, such as `Debian GNU/Linux 12 (bookworm)`. */
export function readSystemName(): string | undefined {
  try {
    return (systemName ??= /^PRETTY_NAME="?([^"\n]*)"?$/mu.exec(readFileSync("/etc/os-release", "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

/** Memory available to programs without swapping (MemAvailable). */
export function readAvailableMemory(): number | undefined {
  try {
    const kib = /^MemAvailable:\s+(\d+) kB$/mu.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

/** Busy and total time of all processors since boot, in an unspecified unit. */
export interface ProcessorTimes {
  readonly busy: number;
  readonly total: number;
}

/** Processor times from /proc/stat, else summed over os.cpus(). */
export function readProcessorTimes(): ProcessorTimes {
  const fields = processorFields();
  const total = fields.reduce((sum, field) => sum + field, 0);
  // Fields 3 and 4 are idle and iowait; guest time, after the eighth field, is included in the first two.
  return { busy: total - (fields[3] ?? 0) - (fields[4] ?? 0), total };
}

function processorFields(): number[] {
  try {
    const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
    return line.split(/\s+/).slice(1, 9).map(Number);
  } catch {
    const sum = (name: "user" | "nice" | "sys" | "idle" | "irq"): number =>
      cpus().reduce((all, { times }) => all + times[name], 0);
    return [sum("user"), sum("nice"), sum("sys"), sum("idle"), 0, sum("irq")];
  }
}

function parseStat(line: string): ProcessStat | undefined {
  // The name is in parentheses and may contain parentheses and blanks; the last one closes it.
  const open = line.indexOf("(");
  const close = line.lastIndexOf(")");
  const fields = line.slice(close + 2).split(" ");
  if (open === -1 || close === -1 || fields.length < 22) return undefined;
  const number = (index: number): number => Number(fields[index]);
  return {
    pid: Number.parseInt(line, 10),
    name: line.slice(open + 1, close),
    state: fields[0] ?? "?",
    ppid: number(1),
    group: number(2),
    session: number(3),
    cpuTicks: number(11) + number(12),
    startTicks: number(19),
    rssPages: number(21),
  };
}

async function readProc(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new Fault("TOOL_FAILED", `This system has no ${path}; processes can be listed on Linux only.`, { cause });
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

function ownerOf(pid: number, users: ReadonlyMap<number, string>): string {
  try {
    const { uid } = statSync(`/proc/${pid}`);
    return users.get(uid) ?? String(uid);
  } catch {
    return "?";
  }
}

function userNames(): Map<number, string> {
  const names = new Map<number, string>();
  try {
    for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
      const [name, , uid] = line.split(":");
      if (name !== undefined && uid !== undefined && !names.has(Number(uid))) names.set(Number(uid), name);
    }
  } catch {
    // Without /etc/passwd the numeric uid is shown.
  }
  return names;
}
