import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { isAlive, thisProcess } from "../host/process-identity.ts";
import { listPids, readProcessStat, readProcessVariable, type ProcessStat } from "./proc.ts";

/*
 * No process outlives its action. Each carries a tag in its environment that names the process of ours that started
 * it and the action it belongs to; children inherit it, also those that leave the group and the session.
 * Nothing is signalled that does not carry the tag, or descend from what does, at the very moment of the signal.
 */

/** The variable that carries the tag. */
export const ACTION_TAG_VARIABLE = "VIDRO_ACTION";

/** How long a process may go on after its action has ended by itself, unless something ends it sooner. */
const STRAGGLER_MS = 1000;

/** A process, named so that a later one with the same pid is not taken for it. */
export type TaggedProcess = Pick<ProcessStat, "pid" | "startTicks">;

const running = new Set<string>();
let stragglers: NodeJS.Timeout | undefined;
let watchdog: Writable | undefined;

/** The tag of an action's processes. */
export function actionTag(state: string, action: string): string {
  const { pid, started } = thisProcess();
  return `${pid}-${started}-${stateHash(state)}/${action}`;
}

/** Says that a tag is in use, and sees to it that its processes end even if this one is killed. */
export function holdTag(tag: string): void {
  running.add(tag);
  watchdog ??= startWatchdog();
}

/** Says that a tag is no longer in use: what still carries it is ended soon. */
export function releaseTag(tag: string): void {
  running.delete(tag);
  stragglers ??= setTimeout(killStragglers, STRAGGLER_MS).unref();
}

/** Ends everything that this process started for an action that has ended. */
export function killStragglers(): void {
  clearTimeout(stragglers);
  stragglers = undefined;
  const { pid, started } = thisProcess();
  killAll(findByTag((tag) => tag.startsWith(`${pid}-${started}-`) && !running.has(tag)));
}

/** The living processes that belong to a tag; with a leader that still lives, also its session and its descendants. */
export function findTaggedProcesses(tag: string, leader?: TaggedProcess): TaggedProcess[] {
  const stats = livingStats(leader?.startTicks ?? 0);
  const family = new Set<number>(leader === undefined ? [] : [leader.pid]);
  const belongs = (stat: ProcessStat): boolean =>
    (leader !== undefined && (stat.session === leader.pid || stat.group === leader.pid)) ||
    family.has(stat.pid) ||
    family.has(stat.ppid) ||
    readProcessVariable(stat.pid, ACTION_TAG_VARIABLE) === tag;
  const found: TaggedProcess[] = [];
  // In the order of their birth, so that a parent is known before its children.
  for (const stat of stats.sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)) {
    if (!belongs(stat)) continue;
    family.add(stat.pid);
    found.push(stat);
  }
  return found;
}

/** Signals a process unless its pid belongs to another one by now. */
export function signalProcess(member: TaggedProcess, signal: NodeJS.Signals): void {
  if (readProcessStat(member.pid)?.startTicks !== member.startTicks) return;
  try {
    process.kill(member.pid, signal);
  } catch {
    // It is gone, or it became another user's; either way nothing is left for us to do.
  }
}

/** Ends what earlier processes of the same hand left behind; returns how many there were. */
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
 * A shell that does nothing but wait for us to be gone, however we go: its input ends when we do. Then it kills what
 * carries our tag, again until there is none. It is one process for all actions, in a session of its own.
 */
function startWatchdog(): Writable {
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
  const child = spawn("/bin/sh", args, { stdio: ["pipe", "ignore", "ignore"], detached: true, cwd: "/", env: PATH });
  child.once("exit", () => (watchdog = undefined));
  child.on("error", () => undefined).unref();
  child.stdin.on("error", () => undefined);
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child.stdin;
}

const PATH = { PATH: "/usr/local/bin:/usr/bin:/bin" };
