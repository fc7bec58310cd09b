import { asFault } from "@vidro/core";
import type { FaultCode } from "@vidro/core";

/**
 * Transient faults of a store: the same append may be repeated, since entries that are on disk are not written twice.
 */
const TRANSIENT: ReadonlySet<FaultCode> = new Set([
  "STORE_BUSY",
  "STORE_FAILED",
  "STORE_UNREACHABLE",
  "STORAGE_FULL",
  "COMMIT_UNKNOWN",
]);

/** Whether the same call may succeed later. */
export function isTransient(thrown: unknown): boolean {
  return TRANSIENT.has(asFault(thrown).code);
}
