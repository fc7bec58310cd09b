import { asFault } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/** Faults of a store that pass: the same entries may be appended again, since those that are there are left alone. */
const TRANSIENT: ReadonlySet<FaultCode> = new Set(["STORE_BUSY", "STORE_FAILED", "STORAGE_FULL", "COMMIT_UNKNOWN"]);

/** Whether a store that met this fault may take the same call later. */
export function isTransient(thrown: unknown): boolean {
  return TRANSIENT.has(asFault(thrown).code);
}
