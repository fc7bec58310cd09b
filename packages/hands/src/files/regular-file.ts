import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The beginning of a file. */
interface FileStart {
  readonly bytes: Buffer;
  /** Whether the file is longer. */
  readonly isCut: boolean;
}

/**
 * Reads at most so many bytes of a regular file of a project; undefined when there is none. It never waits: a project may
 * hold a fifo or a device under any name, and opening or reading one could stop this process for good.
 */
export function readFileStart(path: string, bytes: number): FileStart | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    // One byte more shows whether the file has grown meanwhile.
    const buffer = Buffer.alloc(Math.min(stat.size, bytes) + 1);
    const read = readWhole(file, buffer);
    return { bytes: buffer.subarray(0, Math.min(read, bytes)), isCut: read > bytes };
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Fills the buffer as far as the file goes. */
function readWhole(file: number, buffer: Buffer): number {
  let at = 0;
  for (let read = 1; read > 0 && at < buffer.length; at += read)
    read = readSync(file, buffer, at, buffer.length - at, at);
  return at;
}
