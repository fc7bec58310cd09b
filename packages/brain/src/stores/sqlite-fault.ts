import { Fault, isObject, STORE } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/* The primary result codes of SQLite that mean something to us; an extended code has its primary in the low byte. */
const BUSY = 5;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CONSTRAINT = 19;
const PRIMARY_MASK = 0xff;

const FILE_IS_FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** What SQLite or the file system threw, as a Fault: `otherwise` when it is nothing more particular. */
export function storeFault(thrown: unknown, path: string, otherwise: FaultCode = "STORE_UNREADABLE"): Fault {
  if (thrown instanceof Fault) return thrown;
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const fault = (code: FaultCode, message: string): Fault => new Fault(code, message, { cause: thrown });
  if (isOutOfSpace(thrown))
    return fault("STORAGE_FULL", `The store ${path} cannot be written (${said}); free some disk.`);
  const code = primaryCode(thrown);
  if (code === BUSY) {
    return fault("STORE_UNREADABLE", `Another process kept the store ${path} locked for ${STORE.busyMs} ms.`);
  }
  if (code === CONSTRAINT) return fault("CONFLICT", `Somebody else wrote to the store ${path} first (${said}).`);
  if (code === CORRUPT) return fault("JOURNAL_CORRUPT", `The file ${path} is damaged (${said}).`);
  return fault(otherwise, `The store ${path} cannot be used: ${said}.`);
}

/** Whether another connection is in the way. */
export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown) === BUSY;
}

/** Whether the disk, not the one call, is at fault. */
export function isOutOfSpace(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  // A full disk comes as an I/O error where it is the shared-memory file or the sync that finds no room.
  return code === FULL || code === IO_ERROR || (isObject(thrown) && FILE_IS_FULL.has(thrown["code"]));
}

function primaryCode(thrown: unknown): number | undefined {
  const code = isObject(thrown) ? thrown["errcode"] : undefined;
  return typeof code === "number" ? code & PRIMARY_MASK : undefined;
}
