import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { HAND_LIMITS } from "@vidro/core";
import { isAlive, thisProcess } from "../host/process-identity.ts";
import { withoutLeaks } from "./leaked-descriptors.ts";
import { listPids, readProcessStat, readProcessVariable, type ProcessStat } from "./proc.ts";

/*
 * No process outlives its action. Each carries a tag in its environment with the hand's process and the action; its
 * children inherit it, even when they leave the process group and session. Only processes that carry the tag, or
 * descend from one that does, are signalled, and this is checked right before each signal.
 */

/** The environment variable of the tag. */
export const ACTION_TAG_VARIABLE = "VIDRO_ACTION";

/** A process, identified by pid and start time, so that a later one with the same pid is not taken for it. */
export type TaggedProcess = Pick<ProcessStat, "pid" | "startTicks">;

const running = new Set<string>();
let stragglers: NodeJS.Timeout | undefined;
let watchdog: Writable | undefined;

/** The tag of an action's processes. */
export function actionTag(state: string, action: string): string {
  const { pid, started } = thisProcess();
  return `${pid}-${started}-${stateHash(state)}/${action}`;
}

/** Marks a tag as in use, and starts the watchdog that kills its processes if this process is killed. */
export function holdTag(tag: string): void {
  running.add(tag);
  watchdog ??= startWatchdog();
}

/** Marks a tag as no longer in use; processes that still carry it are killed soon. */
export function releaseTag(tag: string): void {
  running.delete(tag);
  stragglers ??= setTimeout(killStragglers, HAND_LIMITS.stragglerMs).unref();
}

/** Kills processes that this process started for actions that have ended. */
export function killStragglers(): void {
  clearTimeout(stragglers);
  stragglers = undefined;
  const { pid, started } = thisProcess();
  killAll(findByTag((tag) => tag.startsWith(`${pid}-${started}-`) && !running.has(tag)));
}

/** Running processes with a tag; with a running leader, also those of its session, group and descendants. */
export function findTaggedProcesses(tag: string, leader?: TaggedProcess): TaggedProcess[] {
  const stats = livingStats(leader?.startTicks ?? 0);
  const family = new Set<number>(leader === undefined ? [] : [leader.pid]);
  const belongs = (stat: ProcessStat): boolean =>
    (leader !== undefined && (stat.session === leader.pid || stat.group === leader.pid)) ||
    family.has(stat.pid) ||
    family.has(stat.ppid) ||
    readProcessVariable(stat.pid, ACTION_TAG_VARIABLE) === tag;
  const found: TaggedProcess[] = [];
  // Sorted by start time, so that a parent is found before its children.
  for (const stat of stats.sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)) {
    if (!belongs(stat)) continue;
    family.add(stat.pid);
    found.push(stat);
  }
  return found;
}

/** Signals a process unless its pid was reused. */
export function signalProcess(member: TaggedProcess, signal: NodeJS.Signals): void {
  if (readProcessStat(member.pid)?.startTicks !== member.startTicks) return;
  try {
    process.kill(member.pid, signal);
  } catch {
    // The process has ended or belongs to another user; there is nothing left to do.
  }
}

/** Kills processes left behind by earlier processes of the same hand; returns their number. */
export function killLeftovers(state: string): number {
  const here = thisProcess();
  const left = findByTag((tag) => {
    const [, pid, started, mark] = /^(\d+)-([\d-]+)-([\da-f]+)\//u.exec(tag) ?? [];
    return mark === stateHash(state) && started !== undefined && !isAlive({ ...here, pid: Number(pid), started });
  });
  killAll(left);
  return left.length;
}

function stateHash(state: string): string {
  return createHash("sha256").update(state).digest("hex").slice(0, 12);
}

function livingStats(sinceTicks: number): ProcessStat[] {
  return listPids()
    .map(readProcessStat)
    .filter((stat) => stat !== undefined)
    .filter((stat) => stat.startTicks >= sinceTicks && stat.state !== "Z" && stat.state !== "X");
}

function findByTag(matches: (tag: string) => boolean): TaggedProcess[] {
  return livingStats(0).filter(({ pid }) => {
    const tag = readProcessVariable(pid, ACTION_TAG_VARIABLE);
    return tag !== undefined && matches(tag);
  });
}

function killAll(found: readonly TaggedProcess[]): void {
  for (const member of found) signalProcess(member, "SIGKILL");
}

/**
 * A shell that waits until this process ends, however it ends, because its stdin is closed then. It kills the processes
 * with this process's tag until none is left. One watchdog serves all actions, in its own session.
 */
function startWatchdog(): Writable | undefined {
  const { pid, started } = thisProcess();
  const script = `read -r _
    for round in 1 2 3 4 5 6 7 8 9 10; do
      found=
      for file in $(grep -lzs "$1" /proc/[0-9]*/environ); do
        found=1; owner=\${file#/proc/}; grep -qzs "$1" "$file" && kill -KILL "\${owner%/environ}"
      done
      [ -n "$found" ] || exit 0
    done`;
  const args = ["-c", script, "vidro-watch", `^${ACTION_TAG_VARIABLE}=${pid}-${started}-`];
  const stdio = withoutLeaks(["pipe", "ignore", "ignore"]);
  const child = spawn("/bin/sh", args, { stdio, detached: true, cwd: "/", env: PATH });
  child.once("exit", () => (watchdog = undefined));
  child.on("error", () => undefined).unref();
  child.stdin?.on("error", () => undefined);
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child.stdin ?? undefined;
}

const PATH = { PATH: "/usr/local/bin:/usr/bin:/bin" };
