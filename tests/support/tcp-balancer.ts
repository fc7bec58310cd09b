import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A plain TCP balancer: each connection goes to the next server that accepts it, or to the first one. */
export interface TcpBalancer extends AsyncDisposable {
  readonly url: string;
}

/** Starts a balancer in front of servers by their addresses; with `prefers: "first"` the others are for when it is away. */
export async function startBalancer(
  targets: readonly string[],
  { prefers = "next" }: { readonly prefers?: "next" | "first" } = {},
): Promise<TcpBalancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const forward = (near: Socket, tries: number): void => {
    const target = targets[prefers === "first" ? targets.length - tries : turn++ % targets.length];
    if (target === undefined || tries === 0) return void near.destroy();
    const { hostname, port } = new URL(target);
    const far = connect(Number(port), hostname);
    far.once("error", () => forward(near, tries - 1));
    far.once("connect", () => {
      far.removeAllListeners("error");
      join(near, far);
      join(far, near);
    });
  };
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  };
  const server = createServer((near) => {
    near.on("error", () => undefined);
    forward(near, targets.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
