import { Fault } from "./fault.ts";

/**
 * The fault of a failed listen: PORT_TAKEN when another program has the address, with a remedy where the table's does not
 * fit; else CONFLICT with the system's message.
 */
export function listenFault(place: string, cause: Error & { readonly code?: string }, remedy = ""): Fault {
  if (cause.code === "EADDRINUSE")
    return new Fault("PORT_TAKEN", `${place} is taken: another program listens there.${remedy && ` ${remedy}`}`, {
      cause,
    });
  return new Fault("CONFLICT", `${place} cannot be listened on: ${cause.message}`, { cause });
}
