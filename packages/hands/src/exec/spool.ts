import { closeSync, fchmodSync, openSync, readSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { HAND_LIMITS } from "@vidro/core";
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

/** Removes spools that are too old, and the oldest ones beyond the size bound. */
export function pruneSpools(folder: string, now: number): void {
  let bytes = 0;
  const newestFirst = readdirSync(folder)
    .map((name) => ({ path: join(folder, name), stat: statSync(join(folder, name), { throwIfNoEntry: false }) }))
    .sort((a, b) => (b.stat?.mtimeMs ?? 0) - (a.stat?.mtimeMs ?? 0));
  for (const { path, stat } of newestFirst) {
    bytes += stat?.size ?? 0;
    if (bytes > HAND_LIMITS.spoolFolderBytes || now - (stat?.mtimeMs ?? now) > HAND_LIMITS.ledgerMs)
      rmSync(path, { force: true });
  }
}
