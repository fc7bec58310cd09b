import { connect as connectPlain } from "node:net";
import type { LookupFunction, Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import { deferred, TCP_LIMITS } from "@vidro/core";
import { TcpError } from "./error.ts";

/** Address of a server. */
export interface TcpAddress {
  readonly host: string;
  /** Default: 4000. */
  readonly port?: number;
  /** TLS: `true`, or trusted certificates, own certificate and server name. */
  readonly tls?: true | Pick<ConnectionOptions, "ca" | "cert" | "key" | "servername" | "minVersion">;
  /** Resolves the host name; for callers that restrict the addresses to connect to. */
  readonly lookup?: LookupFunction;
  /** Closes the connection, also while it is being made. */
  readonly signal?: AbortSignal;
}

/** Connects to a server, with TLS when asked for; CONNECTION when that fails or takes too long. */
export async function dialTcp({ host, port = TCP_LIMITS.port, tls, lookup, signal }: TcpAddress): Promise<Socket> {
  const secure = tls === true ? {} : tls;
  const where = lookup === undefined ? { host, port } : { host, port, lookup };
  const socket =
    secure === undefined ? connectPlain(where) : connectTls({ minVersion: "TLSv1.3", ...where, ...secure });
  const { promise, resolve, reject } = deferred<Socket>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), TCP_LIMITS.connectMs);
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
