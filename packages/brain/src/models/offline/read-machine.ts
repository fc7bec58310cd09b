import { KIB, MIB } from "@vidro/core";
import { outputLines, readOutput } from "./read-output.ts";

/** A mounted file system. */
export interface Volume {
  readonly mount: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** What is neither free nor used is reserved by the file system or by a quota. */
  readonly usedBytes: number;
}

const PSEUDO_SOURCE = /^(tmpfs|devtmpfs|udev|none|shm|efivarfs|squashfs|overlayfs-none|\/dev\/loop\d+)$/;
const PSEUDO_MOUNT = /^\/(dev|proc|sys|run|snap)(\/|$)/;
const DF_ROW = /^(.+?)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\d+)%\s+(\/.*)$/;

/** Reads `df -kP`: real file systems, the root first and then the largest; all of them when none is real. */
export function readVolumes(text: string): readonly Volume[] | undefined {
  const rows = outputLines(readOutput(text).stdout).flatMap((line) => {
    const [, source = "", total = "", used = "", free = "", , mount = ""] = DF_ROW.exec(line) ?? [];
    if (mount === "" || Number(total) === 0) return [];
    const isPseudo = PSEUDO_SOURCE.test(source) || PSEUDO_MOUNT.test(mount) || Number(total) < KIB;
    return [
      {
        mount,
        totalBytes: Number(total) * KIB,
        freeBytes: Math.max(0, Number(free)) * KIB,
        usedBytes: Number(used) * KIB,
        isPseudo,
      },
    ];
  });
  const real = rows.filter((row) => !row.isPseudo);
  const kept = (real.length > 0 ? real : rows).map(({ isPseudo: _isPseudo, ...volume }) => volume);
  kept.sort((a, b) => Number(b.mount === "/") - Number(a.mount === "/") || b.totalBytes - a.totalBytes);
  return kept.length === 0 ? undefined : kept;
}

/** The machine's memory. */
export interface MemoryFigures {
  readonly totalBytes: number;
  readonly availableBytes: number;
  readonly swapTotalBytes?: number;
  readonly swapUsedBytes?: number;
}

/** Reads `free -b`; the columns stand in the same places in every language. */
export function readMemory(text: string): MemoryFigures | undefined {
  const rows = outputLines(readOutput(text).stdout).map((line) =>
    line
      .slice(line.indexOf(":") + 1)
      .trim()
      .split(/\s+/)
      .map(Number),
  );
  const [, memory = [], swap = []] = rows;
  const [totalBytes = Number.NaN] = memory;
  const availableBytes = memory[5] ?? memory[2] ?? Number.NaN;
  if (!(totalBytes > 0) || !(availableBytes >= 0)) return undefined;
  const [swapTotalBytes = Number.NaN, swapUsedBytes = Number.NaN] = swap;
  const found = { totalBytes, availableBytes };
  return swapTotalBytes >= 0 && swapUsedBytes >= 0 ? { ...found, swapTotalBytes, swapUsedBytes } : found;
}

/** The processors. */
interface Processors {
  readonly count: number;
  readonly model?: string;
}

/** Reads `lscpu`, in the languages spoken here. */
export function readProcessors(text: string): Processors | undefined {
  const { stdout } = readOutput(text);
  const count = Number(/^CPU\(s\):\s*(\d+)/m.exec(stdout)?.[1]);
  const model = /^(?:Model name|Nome do modelo|Nombre del modelo):\s*(\S.*)$/m.exec(stdout)?.[1]?.trim();
  if (!(count > 0)) return undefined;
  return model === undefined || model === "-" ? { count } : { count, model };
}

/** Reads `nproc`. */
export function readProcessorCount(text: string): Processors | undefined {
  const { stdout } = readOutput(text);
  return /^\d+$/.test(stdout.trim()) ? { count: Number(stdout) } : undefined;
}

/** How long the machine is up, and how busy it was over 1, 5 and 15 minutes. */
interface Uptime {
  readonly minutes: number;
  readonly load: readonly number[];
}

/** Reads `uptime`. */
export function readUptime(text: string): Uptime | undefined {
  const { stdout } = readOutput(text);
  const spent = /\bup\s+(.*?),?\s+\d+\s+users?\b/.exec(stdout)?.[1] ?? /\bup\s+(.*?),\s+load/.exec(stdout)?.[1];
  const loads = /load averages?:\s*(.*)$/m.exec(stdout)?.[1]?.match(/\d+[.,]\d+/g) ?? [];
  if (spent === undefined || loads.length < 3) return undefined;
  const days = Number(/(\d+)\s+days?/.exec(spent)?.[1] ?? 0);
  const [, hours = "0", minutes = "0"] = /(\d+):(\d+)/.exec(spent) ?? [];
  const alone = Number(/(\d+)\s+min/.exec(spent)?.[1] ?? 0) + 60 * Number(/(\d+)\s+h/.exec(spent)?.[1] ?? 0);
  return {
    minutes: days * 1440 + Number(hours) * 60 + Number(minutes) + alone,
    load: loads.slice(0, 3).map((load) => Number(load.replace(",", "."))),
  };
}

/** The facts that `os_info` tells, by name. */
export type Facts = ReadonlyMap<string, string>;

/** Reads `os_info`: one `name: value` on each line. */
export function readFacts(text: string): Facts | undefined {
  const pairs = outputLines(text).flatMap((line): [string, string][] => {
    const [, name, value] = /^(\w+):\s*(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return pairs.length === 0 ? undefined : new Map(pairs);
}

/** A number among the facts. */
function numberFact(facts: Facts, name: string): number | undefined {
  const value = Number(facts.get(name) || Number.NaN);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The workspace's volume, from `os_info`. */
export function readVolumeFacts(text: string): readonly Volume[] | undefined {
  const facts = readFacts(text);
  const total = facts && numberFact(facts, "disk_total_mib");
  const free = facts && numberFact(facts, "disk_available_mib");
  if (total === undefined || free === undefined || total === 0) return undefined;
  const usedBytes = (total - free) * MIB;
  return [{ mount: facts?.get("workspace") ?? ".", totalBytes: total * MIB, freeBytes: free * MIB, usedBytes }];
}

/** The memory, from `os_info`. */
export function readMemoryFacts(text: string): MemoryFigures | undefined {
  const facts = readFacts(text);
  const total = facts && numberFact(facts, "memory_total_mib");
  const available = facts && numberFact(facts, "memory_available_mib");
  if (total === undefined || available === undefined || total === 0) return undefined;
  return { totalBytes: total * MIB, availableBytes: available * MIB };
}

/** The processors, from `os_info`. */
export function readProcessorFacts(text: string): Processors | undefined {
  const facts = readFacts(text);
  const count = facts && numberFact(facts, "processors");
  return count === undefined || count === 0 ? undefined : { count };
}

/** Uptime and load, from `os_info`. */
export function readUptimeFacts(text: string): Uptime | undefined {
  const facts = readFacts(text);
  const seconds = facts && numberFact(facts, "uptime_seconds");
  const load = (facts?.get("load") ?? "").split(" ").map(Number);
  return seconds === undefined || load.length !== 3 || load.some(Number.isNaN)
    ? undefined
    : { minutes: Math.floor(seconds / 60), load };
}

/** The name and the system of this machine. */
export interface SystemName {
  readonly host: string;
  readonly kernel: string;
  readonly architecture: string;
  readonly name?: string;
}

/** The machine's name and system, from `os_info`. */
export function readSystemFacts(text: string): SystemName | undefined {
  const facts = readFacts(text);
  const [host, kernel, architecture] = ["hostname", "kernel", "architecture"].map((name) => facts?.get(name) ?? "");
  if (!host || !kernel || !architecture) return undefined;
  const name = facts?.get("system");
  return name ? { host, kernel, architecture, name } : { host, kernel, architecture };
}

/** Reads `uname -a`. */
export function readUname(text: string): SystemName | undefined {
  const words = readOutput(text).stdout.trim().split(/\s+/);
  const architecture = words.find((word) =>
    /^(x86_64|amd64|i[3-6]86|aarch64|arm64|armv\w+|riscv64|ppc64le|s390x)$/.test(word),
  );
  const [system, host, release] = words;
  return system && host && release && architecture ? { host, kernel: `${system} ${release}`, architecture } : undefined;
}

/** Inodes of a file system. */
interface Inodes {
  readonly mount: string;
  readonly total: number;
  readonly free: number;
}

/** Reads `df -iP`: real file systems, the root first. */
export function readInodes(text: string): readonly Inodes[] | undefined {
  const all = outputLines(readOutput(text).stdout).flatMap((line) => {
    const [, source = "", total = "", , free = "", mount = ""] =
      /^(.+?)\s+(\d+|-)\s+(\d+|-)\s+(-?\d+|-)\s+(?:\d+%|-)\s+(\/.*)$/.exec(line) ?? [];
    if (mount === "") return [];
    const isPseudo = PSEUDO_SOURCE.test(source) || PSEUDO_MOUNT.test(mount);
    return [{ mount, total: Number(total) || 0, free: Number(free) || 0, isPseudo }];
  });
  const real = all.filter((row) => !row.isPseudo);
  const kept = (real.length > 0 ? real : all).map(({ isPseudo: _isPseudo, ...row }) => row);
  kept.sort((one, other) => Number(other.mount === "/") - Number(one.mount === "/") || other.total - one.total);
  return kept.length === 0 ? undefined : kept;
}
