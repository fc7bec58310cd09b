import { Fault } from "@vidro/core";
import type { Event } from "@vidro/core";

/** The fault that a client is told of a run that failed or was aborted. */
export function faultOfRun(event: Extract<Event, { readonly type: "run.failed" | "run.aborted" }>): Fault {
  if (event.type === "run.failed") return new Fault(event.fault.code, event.fault.message);
  return new Fault("CONFLICT", `The run was stopped: ${event.reason}`);
}
