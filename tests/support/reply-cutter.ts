import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A way to a server that can be cut at a chosen moment. */
export interface ReplyCutter extends AsyncDisposable {
  readonly port: number;
  /** Number of connections that were cut before a reply. */
  readonly cuts: number;
  /** Passes the next request that holds these bytes on, and cuts its connection when the server replies. */
  cutReplyTo(bytes: string): void;
  /** Cuts every connection. */
  cutAll(): void;
}

/** Passes bytes on to a port of this machine. */
export async function startReplyCutter(port: number): Promise<ReplyCutter> {
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let isCut = false;
    near.on("data", (chunk) => {
      if (wanted !== undefined && chunk.includes(wanted)) {
        isCut = true;
        wanted = undefined;
      }
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (!isCut) return void near.write(chunk);
      cuts += 1;
      near.resetAndDestroy();
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cutAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    cutReplyTo: (bytes) => void (wanted = bytes),
    cutAll,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cutAll();
      await closed;
    },
  };
}
