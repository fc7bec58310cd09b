import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A way to a server on which connections break. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  /** How many connections it has broken off. */
  readonly cuts: number;
}

/** Passes bytes on to a server, and breaks each connection off after as many bytes of answer as `bytes` says. */
export async function cuttingProxy(target: string, bytes: () => number): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let left = bytes();
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    near.on("data", (chunk) => far.write(chunk)).on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    far.on("data", (chunk: Buffer) => {
      near.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      cuts += 1;
      far.destroy();
      // Ends and does not reset, so that what was passed on is read before the cut is seen.
      near.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
