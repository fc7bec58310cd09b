import { Fault } from "./fault.ts";

/** Why a place cannot be listened at: PORT_TAKEN when another program has it, else CONFLICT with the system's own words. */
export function listenFault(place: string, cause: Error & { readonly code?: string }): Fault {
  if (cause.code === "EADDRINUSE")
    return new Fault("PORT_TAKEN", `${place} is taken: another program listens there.`, { cause });
  return new Fault("CONFLICT", `${place} cannot be listened on: ${cause.message}`, { cause });
}
