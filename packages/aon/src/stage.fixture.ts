import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import type { Aon } from "./aon.ts";
import type { AonEvent } from "./event.ts";
import { aon } from "./express.ts";
import { aonOf } from "./node-exchange.ts";
import type { NodeResponse } from "./node-response.ts";
import type { AonOptions } from "./settings.ts";

/** A server on a port of its own. */
export interface Stage extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
}

/** What a raw client saw, byte by byte. */
export interface Raw {
  readonly status: number;
  readonly head: string;
  /** The body as it was on the wire, chunk sizes included. */
  readonly wire: string;
  /** Everything, interim answers included. */
  readonly all: string;
}

/** A route of plain node:http that has the AON of its request. */
export type Route = (aon: Aon, request: IncomingMessage, response: NodeResponse) => unknown;

/** Listens on a free port. */
export async function listen(server: Server): Promise<Stage> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** A plain node:http server with the middleware before one route. */
export function stage(route: Route, options: AonOptions<IncomingMessage> = {}): Promise<Stage> {
  const middleware = aon(options);
  const listener: RequestListener = (request, response: NodeResponse) =>
    void middleware(request, response, () => route(aonOf(request), request, response));
  return listen(createServer(listener));
}

/** Sends these bytes and reads until the server closes. */
export function raw(port: number, lines: readonly string[]): Promise<Raw> {
  const { promise, resolve, reject } = Promise.withResolvers<Raw>();
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
  socket.on("error", reject);
  socket.on("end", () => {
    const all = Buffer.concat(chunks).toString();
    const final = all.slice(all.search(/HTTP\/1\.1 (?!1)/));
    const [head = "", ...rest] = final.split("\r\n\r\n");
    resolve({ status: Number(head.split(" ")[1]), head, wire: rest.join("\r\n\r\n"), all });
  });
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return promise;
}

/** A GET as a raw client writes it. */
export function get(accept: string | undefined, ...more: readonly string[]): readonly string[] {
  return ["GET / HTTP/1.1", "Host: here", ...(accept === undefined ? [] : [`Accept: ${accept}`]), ...more];
}

/** The text of a chunked body. */
export function unchunked(wire: string): string {
  const bytes = Buffer.from(wire);
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, end).toString(), 16);
    if (size === 0) break;
    text += bytes.subarray(end + 2, end + 2 + size).toString();
    at = end + 2 + size + 2;
  }
  return text;
}

/** The events of a whole stream. */
export function eventsIn(text: string): AonEvent[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AonEvent);
}

/** The events that a glass box answers with. */
export async function watch(url: string, headers: Readonly<Record<string, string>> = {}): Promise<AonEvent[]> {
  const response = await fetch(url, { headers: { Accept: "application/x-ndjson", ...headers } });
  return eventsIn(await response.text());
}

/** The types of events, in order. */
export function typesOf(events: readonly AonEvent[]): string[] {
  return events.map(({ type }) => type);
}
