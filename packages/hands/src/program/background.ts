import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { BACKGROUND_LIMITS } from "@vidro/core";

/* Programs that go on when their terminal is gone, and the files that they log to. */

/** The command that starts a hand; in the bundle of a clone there is a link to it, and the bundle may be removed. */
export const HAND_LAUNCHER: string = realpathSync(join(import.meta.dirname, "..", "..", "bin", "vidro-hand"));

const PRIVATE = 0o600;

/**
 * Writes lines to a log file that only its owner reads. A file over `BACKGROUND_LIMITS.logBytes` is renamed to `.1`, in
 * place of the one before. A line that cannot be written, as on a full disk, is lost: a log ends no program.
 */
export function openLogFile(path: string): (line: string) => void {
  let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return (line) => {
    try {
      if (bytes > BACKGROUND_LIMITS.logBytes) {
        renameSync(path, `${path}.1`);
        bytes = 0;
      }
      appendFileSync(path, line, { mode: PRIVATE });
      bytes += Buffer.byteLength(line);
    } catch {
      // The next line is tried again.
    }
  };
}

/** A program to start in the background. */
interface DetachedStart {
  readonly argv: readonly string[];
  /** The folder that it works in. */
  readonly cwd: string;
  /** The file that its output is appended to. */
  readonly log: string;
  /** Its environment; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a program in a session of its own: no terminal and no parent ends it. */
export function startDetached({ argv, cwd, log, env }: DetachedStart): ChildProcess {
  const output = openSync(log, "a", PRIVATE);
  try {
    fchmodSync(output, PRIVATE);
    const [program = "", ...args] = argv;
    const options = { cwd, detached: true, stdio: ["ignore", output, output] as const };
    const child = spawn(
      program,
      args,
      env === undefined ? { ...options, stdio: [...options.stdio] } : { ...options, stdio: [...options.stdio], env },
    );
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** The last lines of a file between two positions; none when it cannot be read. */
export function readLastLines(
  path: string,
  count: number,
  { from = 0, to = Infinity }: { readonly from?: number; readonly to?: number } = {},
): readonly string[] {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const size = Math.min(fstatSync(file).size, to);
    const start = Math.max(from <= size ? from : 0, size - BACKGROUND_LIMITS.tailBytes);
    const bytes = Buffer.alloc(size - start);
    const read = readSync(file, bytes, 0, bytes.length, start);
    const lines = bytes.toString("utf8", 0, read).split("\n");
    if (lines.at(-1) === "") lines.pop();
    return count === 0 ? [] : lines.slice(-count);
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Waits until something is so; false when it is not within a time. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const endsAt = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() >= endsAt) return false;
    await new Promise((resolve) => setTimeout(resolve, BACKGROUND_LIMITS.lookMs));
  }
  return true;
}
