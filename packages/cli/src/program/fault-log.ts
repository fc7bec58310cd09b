import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { TERMINAL_LIMITS } from "@vidro/core";
import { jsonLine } from "@vidro/core/text";

/** Writes faults of our own with their stacks to `vidro.log`; people see only the trace id. */
export function faultLog(home: string): (traceId: string, thrown: unknown) => void {
  const path = join(home, "vidro.log");
  return (traceId, thrown) => {
    const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const line = { timestamp: new Date().toISOString(), level: "error", trace_id: traceId, message };
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > TERMINAL_LIMITS.logBytes)
        renameSync(path, `${path}.old`);
      appendFileSync(path, jsonLine(line), { mode: 0o600 });
    } catch {
      // A log that cannot be written must not hide the fault that it is about.
    }
  };
}
