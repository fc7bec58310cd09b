import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProcessExit } from "./process-end.ts";
import type { ScreenedPlace } from "./sandbox/process-screen.ts";

/** A program to start without a shell; each argument is passed unchanged. */
export interface ProcessLaunch {
  /** Absolute path. */
  readonly program: string;
  /** argv[0] and the arguments. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** The place that the process enters before it executes the program. */
  readonly screen?: ScreenedPlace;
}

/** The first process of a command, from its start on. */
export interface RunningProgram {
  readonly pid: number;
  /** The process that started it and takes its exit status. */
  readonly parent: number;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Rejects with OUTCOME_UNKNOWN when its exit status cannot be known any more. */
  readonly exited: Promise<ProcessExit>;
  /** Resolves when it has ended and its output is closed. */
  readonly closed: Promise<unknown>;
  /** Whether its exit status is still to come. */
  readonly isRunning: boolean;
  /** Signals its process group, unless its exit status was taken: from then on the id may be another group's. */
  signalGroup(signal: NodeJS.Signals): void;
}

/** A child of this process as a running program. */
export function programOfChild(child: ChildProcess): RunningProgram {
  const { pid = 0, stdout, stderr } = child;
  return {
    pid,
    parent: process.pid,
    stdout,
    stderr,
    exited: new Promise((resolve) => {
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    }),
    closed: new Promise((resolve) => child.once("close", resolve)),
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    signalGroup(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-pid, signal);
      } catch {
        // The group has just ended.
      }
    },
  };
}
