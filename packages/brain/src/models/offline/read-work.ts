import { KIB } from "@vidro/core";
import { outputLines, readOutput } from "./read-output.ts";

/** A running process. */
export interface ListedProcess {
  readonly pid: number;
  readonly user: string;
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly command: string;
}

/** Processes, and how many there are in all. */
export interface ProcessList {
  readonly rows: readonly ListedProcess[];
  readonly total: number;
}

/** Reads the tool `processes`: tab-separated rows under a header, and a line that counts them. */
export function readProcessList(text: string): ProcessList | undefined {
  const [header = "", ...lines] = outputLines(text);
  if (!header.startsWith("PID\t")) return undefined;
  const rows = lines.flatMap((line) => {
    const [pid, , user = "", cpu, memory, , command = ""] = line.split("\t");
    const row = { pid: Number(pid), user, cpuPercent: Number(cpu), memoryBytes: Number(memory) * KIB * KIB, command };
    return Number.isInteger(row.pid) && Number.isFinite(row.cpuPercent + row.memoryBytes) ? [row] : [];
  });
  const total = Number(/\[\d+ of (\d+) shown/.exec(text)?.[1] ?? rows.length);
  return { rows, total };
}

/** Reads `ps -eo pid,user,pcpu,rss,args`. */
export function readPs(text: string): ProcessList | undefined {
  const rows = outputLines(readOutput(text).stdout).flatMap((line) => {
    const [, pid, user = "", cpu = "", kib, command = ""] =
      /^\s*(\d+)\s+(\S+)\s+([\d.,]+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined) return [];
    return [
      { pid: Number(pid), user, cpuPercent: Number(cpu.replace(",", ".")), memoryBytes: Number(kib) * KIB, command },
    ];
  });
  return rows.length === 0 ? undefined : { rows, total: rows.length };
}

/** A network interface. */
export interface Interface {
  readonly name: string;
  readonly isUp: boolean;
  readonly addresses: readonly string[];
}

/** Reads `ip -br addr`: interfaces with an address, the loopback last. */
export function readInterfaces(text: string): readonly Interface[] | undefined {
  const all = outputLines(readOutput(text).stdout).flatMap((line) => {
    const [name = "", state = "", ...addresses] = line.trim().split(/\s+/);
    if (!/^(UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT|NOTPRESENT|TESTING)$/.test(state)) return [];
    const own = addresses.filter((address) => /^[\da-f.:]+(\/\d+)?$/i.test(address));
    return [{ name: name.replace(/@.*$/, ""), isUp: state === "UP" || state === "UNKNOWN", addresses: own }];
  });
  if (all.length === 0) return undefined;
  return all
    .filter((each) => each.addresses.length > 0)
    .sort((a, b) => Number(a.name === "lo") - Number(b.name === "lo"));
}

/** A listening port. */
export interface ListeningPort {
  readonly port: number;
  readonly addresses: readonly string[];
  /** Names of the listening processes, as far as the system tells this user. */
  readonly owners: readonly { readonly name: string; readonly pid: number }[];
}

/** Reads `ss -tlnp`: one listener for each port, by number. */
export function readListeners(text: string): readonly ListeningPort[] | undefined {
  const { stdout } = readOutput(text);
  if (!/^State\b/m.test(stdout)) return undefined;
  const ports = new Map<number, { addresses: Set<string>; owners: Map<number, string> }>();
  for (const line of outputLines(stdout)) {
    const [, address, port, rest = ""] = /^LISTEN\s+\d+\s+\d+\s+(\S+):(\d+)\s+\S+(.*)$/.exec(line) ?? [];
    if (address === undefined) continue;
    const known = ports.get(Number(port)) ?? { addresses: new Set<string>(), owners: new Map<number, string>() };
    known.addresses.add(address);
    for (const [, name = "", pid] of rest.matchAll(/\("([^"]*)",pid=(\d+)/g)) known.owners.set(Number(pid), name);
    ports.set(Number(port), known);
  }
  const found = [...ports].map(([port, { addresses, owners }]) => ({
    port,
    addresses: [...addresses],
    owners: [...owners].map(([pid, name]) => ({ name, pid })),
  }));
  return found.sort((a, b) => a.port - b.port);
}

/** Who is logged in, by `who`: each name with the number of its sessions. */
export function readSessions(text: string): ReadonlyMap<string, number> | undefined {
  const { stdout, exitCode } = readOutput(text);
  if (exitCode !== 0) return undefined;
  const sessions = new Map<string, number>();
  for (const line of outputLines(stdout)) {
    const name = line.split(/\s+/)[0] ?? "";
    sessions.set(name, (sessions.get(name) ?? 0) + 1);
  }
  return sessions;
}

/** The user that the hand works as. */
interface UserName {
  readonly name: string;
  readonly uid: number;
  readonly groups: readonly string[];
}

/** Reads `id`. */
export function readUser(text: string): UserName | undefined {
  const { stdout } = readOutput(text);
  const [, uid, name] = /^uid=(\d+)\(([^)]+)\)/.exec(stdout) ?? [];
  const groups = [...(/\w+=(\S+)\s*$/.exec(stdout)?.[1]?.matchAll(/\(([^)]+)\)/g) ?? [])].map(
    (match) => match[1] ?? "",
  );
  return name === undefined ? undefined : { name, uid: Number(uid), groups };
}
