import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { LiveObjects } from "../support/live-objects.ts";

/** What a process holds at a moment. */
export interface Resources {
  readonly rssMib: number;
  readonly heapMib: number | undefined;
  readonly descriptors: number;
  readonly sockets: number;
  readonly threads: number;
  readonly children: number;
  readonly lagMs: number;
  readonly storeMib: number;
}

const MIB = 1024 * 1024;

/** What a process holds, as the system and its own metrics tell it; `home` is where its store is. */
export function resourcesOf(pid: number, home: string, metrics: string): Resources {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const links = linksOf(pid);
  const heap = numberIn(metrics, /^vidro_\w*heap_used\w* (\S+)$/m);
  return {
    rssMib: Math.round((numberIn(status, /VmRSS:\s+(\d+)/) ?? 0) / 1024),
    heapMib: heap === undefined ? undefined : Math.round(heap / MIB),
    descriptors: links.length,
    sockets: links.filter((link) => link.startsWith("socket:")).length,
    threads: numberIn(status, /Threads:\s+(\d+)/) ?? 0,
    children: childrenOf(pid).length,
    lagMs: Math.round((numberIn(metrics, /^vidro_event_loop_lag_seconds(?:\{[^}]*\})? (\S+)$/m) ?? 0) * 1000),
    storeMib: Math.round((filesIn(home) / MIB) * 10) / 10,
  };
}

/** Has a process that counts collect its garbage and tell what is alive in it. */
export async function censusOf(child: ChildProcess): Promise<LiveObjects> {
  const { stdout } = child;
  if (stdout === null) throw new Error("It has no standard output.");
  const told = once(stdout, "data");
  child.kill("SIGUSR2");
  return JSON.parse(((await told) as [Buffer])[0].toString("utf8")) as LiveObjects;
}

function linksOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // It was closed meanwhile.
    }
  });
}

function childrenOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    try {
      return readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
        .split(" ")
        .filter((word) => word !== "");
    } catch {
      return [];
    }
  });
}

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).reduce((sum, file) => {
    try {
      return file.isFile() ? sum + statSync(join(file.parentPath, file.name)).size : sum;
    } catch {
      return sum;
    }
  }, 0);
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
