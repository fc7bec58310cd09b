import { once } from "node:events";
import { createServer as createHttp, request } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { createServer as createHttps } from "node:https";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import type { TestContext } from "node:test";
import { encodeFrame, frameDecoder } from "@vidro/core/codec";
import type { JsonObject } from "@vidro/core";
import { WebSocket, WebSocketServer } from "ws";
import type { RawData } from "ws";
import type { Target } from "./in-process-links.ts";

/*
 * A proxy that reads the messages of a link and passes them on as a test says: twice, in another order,
 * or late.
 */

/** What is passed on in the place of a message, one after the other. */
export type Tamper = (message: JsonObject) => readonly JsonObject[];

const MIB = 1024 * 1024;

/** Stands between the ends of a WebSocket, with certificates where they count. */
export async function tamperWebSocket(t: TestContext, { port, trust }: Target, meddle: Tamper): Promise<number> {
  const authority = await trust?.south.authorityAt(Date.now);
  const server =
    authority === undefined ? createHttp() : createHttps({ ...(await authority.forListener(["127.0.0.1"])) });
  const scheme = trust === undefined ? "ws" : "wss";
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (near, asked) => {
    const { authorization } = asked.headers;
    const { ca, certificate: cert, key } = trust?.identity ?? {};
    const far = new WebSocket(`${scheme}://127.0.0.1:${port}${asked.url}`, {
      headers: authorization === undefined ? {} : { authorization },
      ...(trust === undefined ? {} : { ca, cert, key }),
    });
    near.pause();
    far.once("open", () => near.resume());
    carry(near, far, meddle);
    carry(far, near, meddle);
  });
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  return portOf(t, server);
}

function carry(from: WebSocket, to: WebSocket, meddle: Tamper): void {
  from.on("message", (data: RawData) => {
    const message = JSON.parse((data as Buffer).toString("utf8")) as JsonObject;
    for (const passed of meddle(message)) to.send(JSON.stringify(passed));
  });
  from.on("close", () => to.terminate());
  from.on("error", () => to.terminate());
}

/** Stands between the ends of a connection that carries frames. */
export async function tamperFrames(t: TestContext, { port }: Target, meddle: Tamper): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      const decoder = frameDecoder(8 * MIB);
      from.on("data", (chunk: Buffer) => {
        for (const item of decoder.push(chunk))
          if (item.ok) for (const passed of meddle(item.value as JsonObject)) to.write(encodeFrame(passed, 8 * MIB));
      });
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  t.after(() => open.forEach((socket) => socket.destroy()));
  return portOf(t, server);
}

/** Stands between the ends of HTTP and sends every request again, byte by byte; `again` gets what came of that. */
export async function replayRequests(
  t: TestContext,
  { port }: Target,
  again: (status: number) => void,
): Promise<number> {
  const server = createHttp((asked, response) => {
    const pass = async (): Promise<void> => {
      const body = await bytesOf(asked);
      const first = await posted(port, asked, body);
      again((await posted(port, asked, body)).statusCode ?? 0);
      response.writeHead(first.statusCode ?? 0, first.rawHeaders);
      response.end(await bytesOf(first));
    };
    pass().catch(() => response.destroy());
  });
  t.after(() => server.closeAllConnections());
  return portOf(t, server);
}

async function posted(port: number, { url, rawHeaders }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const sent = request({ port, host: "127.0.0.1", path: url, method: "POST", headers: rawHeaders });
  sent.end(body);
  return ((await once(sent, "response")) as [IncomingMessage])[0];
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function portOf(t: TestContext, server: Server | TcpServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}
