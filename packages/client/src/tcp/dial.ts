import { connect as connectPlain } from "node:net";
import type { LookupFunction, Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import { deferred, TCP_LIMITS } from "@vidro/core";
import { TcpError } from "./error.ts";

/** Where a server is. */
export interface TcpAddress {
  readonly host: string;
  /** Default: 4000. */
  readonly port?: number;
  /** Speaks TLS: `true`, or what to trust and whom to expect. */
  readonly tls?: true | Pick<ConnectionOptions, "ca" | "cert" | "key" | "servername" | "minVersion">;
  /** Finds the address of the host, for who may not connect to every address. */
  readonly lookup?: LookupFunction;
  /** Ends a connection at once, also one that is being made. */
  readonly signal?: AbortSignal;
}

/** A connection to a server, TLS included; CONNECTION when there is none in time. */
export async function dialTcp({ host, port = TCP_LIMITS.port, tls, lookup, signal }: TcpAddress): Promise<Socket> {
  const secure = tls === true ? {} : tls;
  const where = lookup === undefined ? { host, port } : { host, port, lookup };
  const socket =
    secure === undefined ? connectPlain(where) : connectTls({ minVersion: "TLSv1.3", ...where, ...secure });
  const { promise, resolve, reject } = deferred<Socket>();
  const timer = setTimeout(() => reject(new Error("nobody answered in time")), TCP_LIMITS.connectMs);
  socket.once(secure === undefined ? "connect" : "secureConnect", () => resolve(socket)).once("error", reject);
  if (signal !== undefined) addAbortSignal(signal, socket);
  try {
    return (await promise).setNoDelay(true).setKeepAlive(true, TCP_LIMITS.heartbeatMs);
  } catch (cause) {
    socket.destroy();
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : String(cause);
    throw new TcpError("CONNECTION", `${host}:${port} cannot be reached: ${reason}.`, { cause });
  } finally {
    clearTimeout(timer);
    socket.off("error", reject);
  }
}
