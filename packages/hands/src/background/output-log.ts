import { closeSync, openSync, readSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { PROCESS_LIMITS } from "@vidro/core";

/*
 * The output of a process in the background: files of bounded size, each named by the place of its first byte in the
 * whole output. The oldest is removed when there is too much, so that a place never changes its meaning.
 */

const PREFIX = "out-";
const DIGITS = 16;

/** Writes the output of a process; a full disk ends the writing, not the process. */
export class OutputLog {
  readonly #folder: string;
  #file: number | undefined;
  #fileBytes = 0;
  #bytes = 0;
  #hasFailed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds the next bytes; synchronously, so that what was read is on record if this process is killed. */
  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#hasFailed;) {
      const room = PROCESS_LIMITS.segmentBytes - this.#fileBytes;
      try {
        if (this.#file === undefined || room <= 0) this.#startFile();
        const written = writeSync(
          this.#file ?? 0,
          chunk,
          at,
          Math.min(chunk.length - at, room <= 0 ? PROCESS_LIMITS.segmentBytes : room),
        );
        at += written;
        this.#fileBytes += written;
        this.#bytes += written;
      } catch {
        this.#hasFailed = true;
      }
    }
  }

  /** Closes the last file. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#hasFailed = true;
  }

  #startFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    const name = `${PREFIX}${String(this.#bytes).padStart(DIGITS, "0")}`;
    this.#file = openSync(join(this.#folder, name), "w", 0o600);
    this.#fileBytes = 0;
    const kept = PROCESS_LIMITS.outputBytes / PROCESS_LIMITS.segmentBytes;
    for (const { path } of listFiles(this.#folder).slice(0, -kept)) rmSync(path, { force: true });
  }
}

/** A piece of the output of a process. */
export interface OutputPiece {
  readonly bytes: Buffer;
  /** Place of the first byte that is given; beyond the one that was asked for when output was dropped. */
  readonly from: number;
  /** Place behind the last byte that is given. */
  readonly to: number;
}

/** First and last place of the output that is kept. */
export function outputSpan(folder: string): { readonly from: number; readonly end: number } {
  const files = listFiles(folder);
  const last = files.at(-1);
  return { from: files[0]?.from ?? 0, end: last === undefined ? 0 : last.from + last.size };
}

/** Reads the output from a place on, at most `limit` bytes; a file that is removed meanwhile is left out. */
export function readOutputFrom(folder: string, place: number, limit: number): OutputPiece {
  const { from: first } = outputSpan(folder);
  const from = Math.max(place, first);
  let to = from;
  const parts: Buffer[] = [];
  for (const { path, from: start, size } of listFiles(folder)) {
    const wanted = Math.min(start + size - to, from + limit - to);
    if (wanted <= 0 || start > to) continue;
    const part = readPart(path, to - start, wanted);
    parts.push(part);
    to += part.length;
  }
  return { bytes: Buffer.concat(parts), from, to };
}

function readPart(path: string, at: number, length: number): Buffer {
  try {
    const file = openSync(path, "r");
    try {
      const part = Buffer.alloc(length);
      return part.subarray(0, readSync(file, part, 0, length, at));
    } finally {
      closeSync(file);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

function listFiles(folder: string): readonly { readonly path: string; readonly from: number; readonly size: number }[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(PREFIX))
      .sort()
      .flatMap((name) => {
        const path = join(folder, name);
        const stat = statSync(path, { throwIfNoEntry: false });
        return stat === undefined ? [] : [{ path, from: Number(name.slice(PREFIX.length)), size: stat.size }];
      });
  } catch {
    return [];
  }
}
