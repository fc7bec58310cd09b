import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { TestContext } from "node:test";
import { frameDecoder } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";
import { frame } from "./tcp-hand.ts";

/** What a server says first that knows the protocol and nothing besides. */
export const HELLO = { v: 1, t: "hello", data: { maxFrame: 262_144, heartbeat: 30_000 } };

/** A request, as a server sees it. */
export type TcpRequest = { readonly id: string; readonly act: string; readonly data?: JsonObject };

/** The answer to a request. */
export const answer = ({ id, act }: TcpRequest, data: Json = {}): Json => ({ v: 1, t: "res", id, act, data });

/** A server of others: greets, and does with each request what the test says. */
export async function startForeignTcpServer(
  t: TestContext,
  heed: (said: TcpRequest, socket: Socket) => Json | undefined,
  hello: Json = HELLO,
): Promise<{ readonly port: number; readonly server: Server; readonly sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const decoder = frameDecoder(262_144);
    socket.on("error", () => undefined).write(frame(hello));
    socket.on("data", (chunk) => {
      for (const item of decoder.push(chunk as Buffer)) {
        const said = item.ok ? heed(item.value as never, socket) : undefined;
        if (said !== undefined) socket.write(frame(said));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, sockets };
}
