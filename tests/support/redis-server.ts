import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@redis/client";
import { freePort } from "./postgres-server.ts";

/** A Redis server that lives for one test file; it writes nothing to disk. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Sends a command as its administrator. */
  command<Reply = unknown>(...words: readonly string[]): Promise<Reply>;
  /** Stops it without a word; the kernel still accepts connections. */
  freeze(): void;
  thaw(): void;
  /** Ends it at once, as a crash does; everything in it is lost. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
  /** Ends it and deletes its files. */
  close(): Promise<void>;
}

const READY_MS = 10_000;

/** Starts a server on a free port; `words` are further words of its command line. */
export async function startRedis(words: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "vidro-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  let child: ReturnType<typeof spawn> | undefined;
  const start = async (): Promise<void> => {
    child = spawn("redis-server", [...args, ...words], { stdio: "ignore" });
    await untilAccepted(port);
  };
  const kill = async (): Promise<void> => {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  process.once("exit", () => child?.kill("SIGKILL"));
  await start();
  return {
    port,
    url,
    async command<Reply>(...sent: readonly string[]) {
      const client = createClient({ url, socket: { reconnectStrategy: false }, maintNotifications: "disabled" });
      client.on("error", () => undefined);
      await client.connect();
      try {
        return (await client.sendCommand([...sent])) as Reply;
      } finally {
        client.destroy();
      }
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    kill,
    start,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilAccepted(port: number): Promise<void> {
  for (const until = performance.now() + READY_MS; ;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      socket.destroy();
      return;
    } catch (thrown) {
      if (performance.now() > until) throw thrown;
      await delay(10);
    }
  }
}
