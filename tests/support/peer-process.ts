import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** How a peer is started. */
export interface PeerStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A process that was started and may not be ready yet. */
export interface LaunchedPeer {
  readonly child: ChildProcess;
  /** Resolves when it says that it is ready; rejects with its last words when it ends before that. */
  readonly ready: Promise<Peer>;
}

/** One end of a link as a process of its own, which says with a line of JSON that it is ready. */
export class Peer implements AsyncDisposable {
  readonly child: ChildProcess;
  /** What it said when it was ready. */
  readonly line: { readonly [field: string]: unknown };

  readonly #log: () => string;

  private constructor(child: ChildProcess, line: { readonly [field: string]: unknown }, log: () => string) {
    this.child = child;
    this.line = line;
    this.#log = log;
  }

  /** The last part of what it wrote to its standard error. */
  get log(): string {
    return this.#log();
  }

  static start(start: PeerStart): Promise<Peer> {
    return Peer.launch(start).ready;
  }

  /** Starts it and does not wait; `hear` gets what it writes to its standard error. */
  static launch({ argv: [program = "", ...args], cwd, env }: PeerStart, hear?: (words: string) => void): LaunchedPeer {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-SAID_CHARS);
      hear?.(chunk.toString("utf8"));
    });
    const lines = createInterface({ input: child.stdout });
    const ended = once(child, "close").then(() => Promise.reject(new Error(`It ended: ${args.join(" ")}\n${said}`)));
    ended.catch(() => undefined);
    const ready = Promise.race([once(lines, "line"), ended]).then(([line]: string[]) => {
      const peer = new Peer(child, JSON.parse(line ?? "{}") as { [field: string]: unknown }, () => said);
      if (peer.line["type"] === "error") throw new Error(`It did not get ready: ${line}`);
      return peer;
    });
    ready.catch(() => undefined);
    return { child, ready };
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Signals it, and gives the exit code when it is gone. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.isAlive) return this.child.exitCode;
    const gone = once(this.child, "exit");
    this.child.kill(signal);
    return ((await gone) as [number | null])[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
  }
}

const SAID_CHARS = 4000;

/**
 * A port of this machine on which no program listens. It is below those that the system gives to connections and to
 * listeners that ask for any port, so that it is still free when a program that was killed comes back to it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

const LOWEST_PORT = 10_000;
const PORTS = 22_000;
