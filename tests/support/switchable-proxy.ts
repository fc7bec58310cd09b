import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A way to a server that can be shut, and opened again. */
export interface SwitchableProxy extends AsyncDisposable {
  readonly url: string;
  /** How many connections were begun. */
  readonly tries: number;
  /** Cuts every connection, and refuses all that come. */
  shut(): void;
  /** Lets connections through again. */
  open(): void;
  /** Cuts every connection, and leads those that come to another server. */
  leadTo(target: string): void;
  /** Keeps every connection and passes nothing on, as a dead link does. */
  freeze(): void;
}

/** Passes bytes on to a server. */
export async function startSwitchableProxy(target: string): Promise<SwitchableProxy> {
  let server = new URL(target);
  const sockets = new Set<Socket>();
  let way: "open" | "shut" | "frozen" = "open";
  let tries = 0;
  const listener = createServer((near) => {
    tries += 1;
    near.on("error", () => undefined);
    if (way === "shut") return void near.resetAndDestroy();
    const far = connect(Number(server.port), server.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("data", (chunk) => way !== "frozen" && to.write(chunk));
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    get tries() {
      return tries;
    },
    shut() {
      way = "shut";
      cut();
    },
    open: () => void (way = "open"),
    leadTo(other) {
      server = new URL(other);
      cut();
    },
    freeze: () => void (way = "frozen"),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => listener.close(resolve));
      cut();
      await closed;
    },
  };
}
