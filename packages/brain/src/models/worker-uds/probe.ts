import { WORKER_LIMITS } from "@vidro/core";
import { WorkerConnection } from "./connection.ts";

/* Addresses of workers, and whether one answers there; apart from the calls, because each start of a brain may ask. */

/** Scheme of a socket's path among the addresses of servers. */
const SCHEME = "unix:";

/** The address of a worker's socket. */
export function workerUrl(path: string): string {
  return `${SCHEME}${path}`;
}

/** Whether a worker answers at an address: it says that it runs or loads its model. */
export async function isWorkerThere(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(WORKER_LIMITS.probeMs);
  const connection = await WorkerConnection.open(socketPath(url), signal).catch(() => undefined);
  if (connection === undefined) return false;
  try {
    await connection.ask({ type: "status" });
    return true;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}

/** The path of the socket at an address. */
export function socketPath(url: string): string {
  return url.startsWith(SCHEME) ? url.slice(SCHEME.length) : url;
}
