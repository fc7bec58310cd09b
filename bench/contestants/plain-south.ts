import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WebSocketServer } from "ws";
import { serveMember } from "../contest/member.ts";

/* What one writes with node:https and ws alone: each hand shows its certificate, and every hello is welcomed. */

/** The folder with the certificates of a brain, and its port. */
export interface PlainSettings {
  readonly folder: string;
  readonly port: number;
}

await serveMember(async ({ folder, port }: PlainSettings) => {
  const authority = readFileSync(join(folder, "authority.pem"), "utf8");
  const listener = readFileSync(join(folder, "listener.pem"), "utf8");
  const server = createServer({
    ca: authority,
    key: listener,
    cert: listener,
    requestCert: true,
    minVersion: "TLSv1.3",
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const { id } = JSON.parse(data.toString("utf8")) as { readonly id?: string };
      socket.send(JSON.stringify({ ok: true, id, policy: { timeouts: {}, max_payload: 1024 ** 2 } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { ready: (server.address() as AddressInfo).port, orders: {} };
});
