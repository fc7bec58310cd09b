import { Fault } from "./fault.ts";

/** The fault of a failed listen: PORT_TAKEN when another program has the address, else CONFLICT with the system's message. */
export function listenFault(place: string, cause: Error & { readonly code?: string }): Fault {
  if (cause.code === "EADDRINUSE")
    return new Fault("PORT_TAKEN", `${place} is taken: another program listens there.`, { cause });
  return new Fault("CONFLICT", `${place} cannot be listened on: ${cause.message}`, { cause });
}
