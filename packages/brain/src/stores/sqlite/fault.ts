import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { Fault, isObject, STORE_LIMITS } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/* The primary result codes of SQLite used here; an extended code has its primary code in the low byte. */
const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
const PRIMARY_MASK = 0xff;

const FILE_IS_FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Turns an error of SQLite or the file system into a Fault. */
export function storeFault(thrown: unknown, path: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const said = wordsOf(thrown);
  const fault = (code: FaultCode, message: string): Fault => new Fault(code, message, { cause: thrown });
  if (isOutOfSpace(thrown, path))
    return fault("STORAGE_FULL", `The store ${path} cannot be written (${said}); free some disk.`);
  const code = primaryCode(thrown);
  if (code === IO_ERROR || code === READ_ONLY)
    return fault("STORE_FAILED", `The disk of the store ${path} fails: ${said}.`);
  if (code === BUSY)
    return fault("STORE_BUSY", `Another process kept the store ${path} locked for ${STORE_LIMITS.busyMs} ms.`);
  if (code === CONSTRAINT) return fault("CONFLICT", `Another process wrote to the store ${path} first (${said}).`);
  if (code === CORRUPT) return fault("JOURNAL_CORRUPT", `The file ${path} is damaged (${said}).`);
  return fault("STORE_UNREADABLE", `The store ${path} cannot be used: ${said}.`);
}

/** The fault of a commit that failed although it may be on disk. */
export function commitUnknown(thrown: unknown, path: string): Fault {
  const message = `The commit to the store ${path} failed (${wordsOf(thrown)}); it may have been recorded or not.`;
  return new Fault("COMMIT_UNKNOWN", message, { cause: thrown });
}

/** Whether another connection holds a lock. */
export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown) === BUSY;
}

/** Whether a commit that failed with this error may be on disk: its sync failed, not its writes. */
export function isDoubtful(thrown: unknown): boolean {
  return primaryCode(thrown) === IO_ERROR;
}

/** Whether a page of the file is damaged. */
export function isCorrupt(thrown: unknown): boolean {
  return primaryCode(thrown) === CORRUPT;
}

/** Whether the file is not a database. */
export function isNoDatabase(thrown: unknown): boolean {
  return primaryCode(thrown) === NOT_A_DATABASE;
}

/** Whether the disk is at fault. */
export function isOfDisk(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  return code === FULL || code === IO_ERROR || code === READ_ONLY || isFullFile(thrown);
}

/** Whether the disk of `path` is full. */
export function isOutOfSpace(thrown: unknown, path: string): boolean {
  const code = primaryCode(thrown);
  // A full disk shows as an I/O error where the shared-memory file or the sync finds no space.
  return code === FULL || isFullFile(thrown) || (code === IO_ERROR && !hasRoom(path));
}

function isFullFile(thrown: unknown): boolean {
  return isObject(thrown) && FILE_IS_FULL.has(thrown["code"]);
}

function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize >= STORE_LIMITS.roomBytes;
  } catch {
    return true;
  }
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function primaryCode(thrown: unknown): number | undefined {
  const code = isObject(thrown) ? thrown["errcode"] : undefined;
  return typeof code === "number" ? code & PRIMARY_MASK : undefined;
}
