import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer, Server as TlsServer } from "node:tls";
import { CODEC_LIMITS, Fault, isLoopbackHost, listenFault } from "@vidro/core";
import { AuthAttempts } from "./agent-tcp/auth-attempts.ts";
import { TCP_BOUNDS } from "./agent-tcp/tcp-bounds.ts";
import type { TcpBounds } from "./agent-tcp/tcp-bounds.ts";
import type { CommandContext } from "./agent-tcp/command.ts";
import { COMMANDS } from "./agent-tcp/commands.ts";
import { TcpConnection } from "./agent-tcp/tcp-connection.ts";
import type { ConnectionContext } from "./agent-tcp/tcp-connection.ts";
import { CommandRegistry } from "./agent-tcp/command-registry.ts";

export type { Bearer, Verify } from "./agent-tcp/command.ts";

/** Settings of a TCP server. */
export interface AgentTcpOptions extends CommandContext {
  /** The address to listen on; beyond this machine only with `tls`, or with `lab`. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** A certificate and its key, in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Laboratory mode: allows tokens to cross a network without TLS. */
  readonly lab?: boolean;
  /** Receives internal errors with the trace id that the client is sent. */
  readonly report?: (traceId: string, thrown: unknown) => void;
  /** Other bounds than those of TCP. */
  readonly bounds?: Partial<TcpBounds>;
}

/** A server that is up. */
export interface AgentTcp {
  /** Host and port. */
  readonly address: string;
  readonly port: number;
  /** Replaces the certificate for new connections; throws if it cannot be used. Only with TLS. */
  secure?(tls: { readonly cert: string; readonly key: string }): void;
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/** Serves a hand over the TCP agent protocol, version 1; resolves when it listens. */
export async function serveAgentTcp(options: AgentTcpOptions): Promise<AgentTcp> {
  refusePlainNetwork(options);
  const bounds = { ...TCP_BOUNDS, ...options.bounds };
  const context = await connectionContextOf(options, bounds);
  const connections = new Set<TcpConnection>();
  const take = (socket: Socket): void => {
    closeOldestStranger(connections, bounds.strangers);
    const connection = new TcpConnection(socket, context);
    connections.add(connection);
    socket.on("close", () => connections.delete(connection));
  };
  const server = createTcpServer(options, bounds, take);
  server.listen(options.port, options.host);
  await once(server, "listening").catch((cause: Error) => {
    throw listenFault(`${options.host}:${options.port}`, cause);
  });
  // Without free descriptors, new connections fail for a while; open ones are not affected.
  server.on("error", () => undefined);
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of connections) connection.checkDeadlines(now);
  }, bounds.sweepMs).unref();
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    address: `${host}:${port}`,
    port,
    ...(server instanceof TlsServer
      ? { secure: (tls) => server.setSecureContext({ ...tls, minVersion: "TLSv1.2" }) }
      : {}),
    async close() {
      clearInterval(sweep);
      const closed = once(server, "close");
      server.close();
      for (const connection of connections) connection.end();
      const impatience = setTimeout(() => connections.forEach((one) => one.destroy()), bounds.lingerMs);
      await closed;
      clearTimeout(impatience);
    },
  };
}

async function connectionContextOf(options: AgentTcpOptions, bounds: TcpBounds): Promise<ConnectionContext> {
  const { hand, name, version, sampler, watches, verify, brain, report = () => undefined } = options;
  const registry = await CommandRegistry.of(COMMANDS);
  const hello = {
    maxFrame: CODEC_LIMITS.frameBytes,
    heartbeat: bounds.heartbeatMs,
    maxInFlight: bounds.inFlight,
    serverVersion: version,
    extensions: registry.extensions,
  };
  const attempts = new AuthAttempts();
  return { hand, name, version, sampler, watches, verify, brain, registry, attempts, bounds, hello, report };
}

function createTcpServer(options: AgentTcpOptions, bounds: TcpBounds, take: (socket: Socket) => void): Server {
  const { tls } = options;
  const takeHalfOpen = (socket: Socket): void => {
    // A client that closed its side may still wait for answers; one that leaves during its handshake does not.
    socket.allowHalfOpen = true;
    take(socket);
  };
  const secured = { ...tls, minVersion: "TLSv1.2", handshakeTimeout: bounds.authMs } as const;
  const server = tls === undefined ? createServer(takeHalfOpen) : createTlsServer(secured, takeHalfOpen);
  // A socket whose TLS handshake failed must be destroyed here, or it would count as a connection for ever.
  server.on("tlsClientError", (_, socket: Socket) => socket.destroy());
  server.maxConnections = bounds.connections;
  return server;
}

/** With too many unauthenticated connections, closes the oldest of them. */
function closeOldestStranger(connections: ReadonlySet<TcpConnection>, strangers: number): void {
  if (connections.size < strangers) return;
  const waiting = [...connections].filter(({ isStranger }) => isStranger);
  if (waiting.length >= strangers) waiting[0]?.destroy();
}

function refusePlainNetwork({ host, tls, lab }: AgentTcpOptions): void {
  if (tls !== undefined || isLoopbackHost(host) || lab === true) return;
  throw new Fault(
    "BAD_REQUEST",
    `${host} can be reached from other machines, and without TLS the tokens would cross the network in clear text: ` +
      "give --tls-cert and --tls-key, listen on 127.0.0.1, or give --lab on a test network.",
  );
}
