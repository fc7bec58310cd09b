import { createHash } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { SpoolPart } from "@vidro/core";
import { trimPartialCharacter } from "./output.ts";

/**
 * Writes the whole output of an action to a file, in order, up to the bound; it survives when the hand is killed. A
 * full disk ends the spool, not the action.
 */
export class Spool {
  readonly #path: string;
  #file: number | undefined;
  #bytes = 0;
  #ended = false;
  #isSound = true;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes the next bytes; synchronously, because a killed process loses what it has not written. */
  take(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      this.#file ??= openForUser(this.#path);
      const fits = chunk.subarray(0, HAND_LIMITS.spoolBytes - this.#bytes);
      this.#bytes += writeSync(this.#file, fits);
      this.#ended = this.#bytes >= HAND_LIMITS.spoolBytes;
    } catch {
      this.#ended = true;
      this.#isSound = false;
    }
  }

  /**
   * Closes the file, and removes it unless it is wanted and complete; returns whether it was kept.
   */
  finish(wanted: boolean): boolean {
    this.#ended = true;
    const keep = wanted && this.#isSound;
    if (this.#file === undefined) return false;
    closeSync(this.#file);
    this.#file = undefined;
    if (!keep) rmSync(this.#path, { force: true });
    return keep;
  }
}

/** Opens a spool with mode 0600, also if a file with another mode was left behind. */
function openForUser(path: string): number {
  const file = openSync(path, "w", 0o600);
  fchmodSync(file, 0o600);
  return file;
}

/** The file for the whole output of an action; ids of actions are not names of files. */
export function spoolFile(folder: string, action: string): string {
  return join(folder, `${createHash("sha256").update(action).digest("hex").slice(0, 32)}.out`);
}

/** The spool of an action from a byte on, at most `spoolPartBytes`; throws NOT_FOUND when it is not kept, or no longer. */
export function readSpoolPart(path: string, from: number): SpoolPart {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (cause) {
    throw new Fault("NOT_FOUND", "The hand no longer keeps the whole output of this action.", { cause });
  }
  try {
    const part = Buffer.alloc(HAND_LIMITS.spoolPartBytes);
    const read = readSync(file, part, 0, part.length, from);
    return { data: part.toString("base64", 0, read), bytes: fstatSync(file).size };
  } finally {
    closeSync(file);
  }
}

/** The beginning of the spool of an action that never ended; undefined if it is empty or missing. */
export function readSpool(path: string): string | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const head = Buffer.alloc(HAND_LIMITS.headBytes);
      const text = trimPartialCharacter(head.subarray(0, readSync(file, head))).toString("utf8");
      return text === "" ? undefined : text;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/**
 * Removes spools that are too old, and the oldest ones beyond the size bound. A file that cannot be removed stays: it
 * must neither keep a hand from starting nor turn the end of an action into a failure.
 */
export function pruneSpools(folder: string, now: number): void {
  let bytes = 0;
  for (const { path, size, mtimeMs } of listSpools(folder).sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    bytes += size;
    if (bytes <= HAND_LIMITS.spoolFolderBytes && now - mtimeMs <= HAND_LIMITS.ledgerMs) continue;
    try {
      rmSync(path, { force: true });
    } catch {
      // The next pruning tries again.
    }
  }
}

function listSpools(folder: string): { readonly path: string; readonly size: number; readonly mtimeMs: number }[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat?.isFile() === true ? [{ path, size: stat.size, mtimeMs: stat.mtimeMs }] : [];
    });
  } catch {
    return [];
  }
}
