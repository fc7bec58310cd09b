import { spawn } from "node:child_process";
import { basename } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, HAND_LIMITS, MIB, type ProcessOutcome } from "@vidro/core";
import { readyLauncher, type Launcher } from "./launcher.ts";
import { withoutLeaks } from "./leaked-descriptors.ts";
import { watchMemory } from "./memory-watch.ts";
import {
  holdTag,
  findTaggedProcesses,
  releaseTag,
  signalProcess,
  ACTION_TAG_VARIABLE,
  actionTag,
  type TaggedProcess,
} from "./orphans.ts";
import { OutputCapture, LiveOutput } from "./output.ts";
import type { EndReason, ProcessExit } from "./process-end.ts";
import { readProcessStat, type ProcessStat } from "./proc.ts";
import { programOfChild, type ProcessLaunch, type RunningProgram } from "./running-program.ts";
import type { Cell, CellOrder } from "./sandbox/cell.ts";
import { screenedWords } from "./sandbox/process-screen.ts";
import { Spool } from "./spool.ts";
import type { ToolExecution } from "../tools/tool.ts";

/** A program that was started, and its input where it has one that is written to. */
export interface StartedProgram {
  readonly program: RunningProgram;
  readonly input?: Writable;
}

/** Starts a program with a tag; with `hasInput` its input is a pipe, else it is empty. */
export type StartProgram = (tag: string, hasInput?: boolean) => Promise<StartedProgram>;

const STREAMS = ["stdout", "stderr"] as const;

/**
 * Starts a program as the hand's user; the start rejects with TOOL_FAILED if that fails. A launcher starts it, when there
 * is one and the program has no input that is written to.
 */
export function processStart(launch: ProcessLaunch, find: () => Launcher | undefined = readyLauncher): StartProgram {
  return async (tag, hasInput = false) => {
    const order = { ...launch, env: { ...launch.env, [ACTION_TAG_VARIABLE]: tag } };
    try {
      const launcher = hasInput ? undefined : find();
      return launcher === undefined ? await startChild(order, hasInput) : { program: await launcher.start(order) };
    } catch (cause) {
      throw cause instanceof Fault ? cause : startFault(launch.argv[0] ?? launch.program, launch.cwd, cause);
    }
  };
}

/** Starts a command in a cell, in the same way. */
export function cellStart(cell: Cell, order: Omit<CellOrder, "tag" | "hasInput">): StartProgram {
  return async (tag, hasInput = false) => {
    try {
      const { child, input } = await cell.run({ ...order, tag, hasInput });
      return { program: programOfChild(child), ...(input === undefined ? {} : { input }) };
    } catch (cause) {
      throw startFault(order.line[0] ?? "", order.cwd, cause);
    }
  };
}

/** How a program is started, and how long it may run. */
interface ProcessStart {
  readonly start: StartProgram;
  readonly timeoutMs: number;
}

/**
 * Runs a program and resolves when its whole process tree has ended. A timeout or an abort sends SIGTERM, then SIGKILL,
 * to the tree; the outcome has the output up to then. Throws TOOL_FAILED if the program cannot be started.
 */
export async function runUntilGone(
  { start, timeoutMs }: ProcessStart,
  execution: ToolExecution,
): Promise<ProcessOutcome> {
  const startedAt = performance.now();
  const tag = actionTag(execution.context.state, execution.action);
  const captures = { stdout: new OutputCapture(), stderr: new OutputCapture() };
  const live = new LiveOutput((stream, chunk) => execution.output(stream, chunk));
  const spool = new Spool(execution.spool);
  holdTag(tag);
  try {
    const { program } = await start(tag);
    for (const stream of STREAMS) {
      program[stream]?.on("data", (chunk: Buffer) => {
        captures[stream].take(chunk);
        spool.take(chunk);
        live.take(stream, chunk);
      });
    }
    const memoryBytes = execution.context.memoryBytes();
    const bounds = { timeoutMs, signal: execution.signal, memoryBytes };
    const { exit, why } = await waitUntilGone(program, tag, bounds);
    if (why === "memory") for (const taker of [captures.stderr, spool]) taker.take(memoryNote(memoryBytes));
    const timedOut = why === "timeout";
    live.finish();
    const stdout = captures.stdout.finish();
    const stderr = captures.stderr.finish();
    const spooled = spool.finish(stdout.truncated || stderr.truncated) ? { spool: basename(execution.spool) } : {};
    const durationMs = Math.round(performance.now() - startedAt);
    return { kind: "process", ...exit, timedOut, durationMs, stdout, stderr, ...spooled };
  } finally {
    spool.finish(false);
    releaseTag(tag);
  }
}

async function startChild(
  { program, argv, cwd, env, screen }: ProcessLaunch,
  hasInput: boolean,
): Promise<StartedProgram> {
  const words = screen === undefined ? argv : [...screenedWords(screen), program, ...argv.slice(1)];
  const [argv0 = program, ...args] = words;
  const child = spawn(screen === undefined ? program : argv0, args, {
    argv0,
    cwd,
    env,
    stdio: withoutLeaks([hasInput ? "pipe" : "ignore", "pipe", "pipe"]),
    // Its own session: it has no terminal to ask for passwords on, and its group can be signalled as a whole.
    detached: true,
  });
  await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  return { program: programOfChild(child), ...(child.stdin === null ? {} : { input: child.stdin }) };
}

function startFault(name: string, cwd: string, cause: unknown): Fault {
  return new Fault("TOOL_FAILED", `${name} could not be started in ${cwd}: ${startFailureReason(cause)}.`, { cause });
}

function startFailureReason(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "ENOENT") return "the program or the folder is not there";
  if (code === "EACCES") return "it may not be executed";
  if (code === "E2BIG") return "its arguments are too long for this system";
  return cause instanceof Error ? cause.message : String(cause);
}

/** The note appended to the output of a command that exceeded its memory limit. */
export function memoryNote(bytes: number): Buffer {
  return Buffer.from(`[ended: its processes had more memory than ${Math.round(bytes / MIB)} MiB]\n`);
}

/** Limits that end a command early. */
interface ProcessBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly memoryBytes: number;
}

/** Waits until the whole tree of a process has ended, and ends it when a limit is reached; rejects as `exited` does. */
export async function waitUntilGone(
  program: RunningProgram,
  tag: string,
  bounds: ProcessBounds,
): Promise<{ exit: ProcessExit; why: EndReason }> {
  const { exited, closed, pid } = program;
  const why = await waitForEndReason(exited, bounds, { pid, tag });
  // A process over its memory limit gets no grace time, because it would allocate more.
  if (why !== "exit") await endTree(program, tag, why === "memory" ? 0 : HAND_LIMITS.graceMs);
  // A process that survives SIGKILL hangs in the kernel; it is not waited for.
  const killed: ProcessExit = { exitCode: null, signal: "SIGKILL" };
  const ended = why === "exit" ? exited : Promise.race([exited, sleep(HAND_LIMITS.pipesMs, killed, UNHELD)]);
  const exit = await ended.catch((lost: unknown) => abandon(program, tag, lost));
  await Promise.race([closed, sleep(HAND_LIMITS.pipesMs, undefined, UNHELD)]);
  for (const stream of STREAMS) program[stream]?.destroy();
  if (hasGroupLeft(pid)) await endTree(program, tag);
  return { exit, why };
}

/** Ends the tree of a program whose exit status cannot be known any more. */
async function abandon(program: RunningProgram, tag: string, lost: unknown): Promise<never> {
  for (const stream of STREAMS) program[stream]?.destroy();
  await endTree(program, tag, 0);
  throw lost;
}

/** Options of a timer that does not keep this process alive. */
const UNHELD = { ref: false };

function waitForEndReason(
  exited: Promise<unknown>,
  { timeoutMs, signal, memoryBytes }: ProcessBounds,
  watched: { readonly pid: number; readonly tag: string },
): Promise<EndReason> {
  return new Promise((resolve) => {
    const abort = (): void => settle("abort");
    const timer = setTimeout(() => settle("timeout"), timeoutMs);
    const settle = (why: EndReason): void => {
      clearTimeout(timer);
      stopWatching();
      signal.removeEventListener("abort", abort);
      resolve(why);
    };
    const stopWatching = watchMemory({ ...watched, bytes: memoryBytes }, () => settle("memory"));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const end = (): void => settle("exit");
    exited.then(end, end);
  });
}

/** Ends all processes of the action: SIGTERM, after the grace time SIGKILL, until none is left. */
async function endTree(program: RunningProgram, tag: string, graceMs: number = HAND_LIMITS.graceMs): Promise<void> {
  const forceAt = performance.now() + graceMs;
  const giveUpAt = forceAt + HAND_LIMITS.pipesMs;
  const asked = new Map<number, TaggedProcess>();
  for (;;) {
    const force = performance.now() >= forceAt;
    if (force || asked.size === 0) program.signalGroup(force ? "SIGKILL" : "SIGTERM");
    const found = findTree(program, tag, asked);
    if ((found.length === 0 && !program.isRunning) || performance.now() >= giveUpAt) return;
    for (const member of found) {
      if (force) signalProcess(member, "SIGKILL");
      else if (!asked.has(member.pid)) signalProcess(member, "SIGTERM");
      asked.set(member.pid, member);
    }
    await sleep(HAND_LIMITS.treePollMs);
  }
}

function findTree(program: RunningProgram, tag: string, known: ReadonlyMap<number, TaggedProcess>): TaggedProcess[] {
  const found = new Map(findTaggedProcesses(tag, findLeader(program)).map((member) => [member.pid, member]));
  // Processes found earlier through the leader may have outlived it.
  for (const member of known.values()) {
    const stat = readProcessStat(member.pid);
    if (stat?.startTicks === member.startTicks && stat.state !== "Z") found.set(member.pid, member);
  }
  return [...found.values()];
}

/** The first process of a command while it runs; a later process with its pid has another parent. */
function findLeader({ isRunning, pid, parent }: RunningProgram): ProcessStat | undefined {
  const stat = isRunning ? readProcessStat(pid) : undefined;
  return stat?.ppid === parent ? stat : undefined;
}

/** Whether processes are left in the group of a leader that has ended; sends no signal. */
function hasGroupLeft(leader: number): boolean {
  try {
    return leader > 0 && process.kill(-leader, 0);
  } catch {
    return false;
  }
}
