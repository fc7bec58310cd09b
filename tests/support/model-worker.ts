import { spawnSync } from "node:child_process";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject } from "@vidro/core";
import { installEngine } from "../../packages/worker/src/index.ts";
import { Peer } from "./peer-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const COMMAND = join(ROOT, "packages/cli/bin/vidro");

/** Folder of the engine for all tests and figures, filled at its first use. */
export const ENGINE = join(ROOT, "packages/worker/.cache/engine");

/** The environment of a worker with a home of its own. */
export function workerEnv(home: string): NodeJS.ProcessEnv {
  return { ...process.env, VIDRO_HOME: home, VIDRO_WORKER_ENGINE: ENGINE };
}

/** Starts `vidro worker` as a process; resolves when it is ready. */
export async function startWorker(home: string, ...flags: readonly string[]): Promise<Peer> {
  await installEngine(ENGINE);
  return Peer.start({ argv: [COMMAND, "worker", "--json", ...flags], cwd: home, env: workerEnv(home) });
}

/** Runs `vidro worker` where it is to end by itself. */
export function failingWorker(home: string, ...flags: readonly string[]): { code: number | null; words: string } {
  const argv = ["worker", "--json", ...flags];
  const { status, stderr } = spawnSync(COMMAND, argv, {
    cwd: home,
    env: workerEnv(home),
    encoding: "utf8",
    timeout: 60_000,
  });
  return { code: status, words: stderr };
}

/** A client of the contract that shares no code with Vidro. */
export class RawClient {
  readonly socket: Socket;
  readonly #lines: AsyncIterator<string>;

  constructor(path: string) {
    this.socket = connect(path);
    this.#lines = createInterface({ input: this.socket })[Symbol.asyncIterator]();
  }

  send(request: JsonObject | string | Buffer): void {
    const isBare = typeof request === "string" || Buffer.isBuffer(request);
    this.socket.write(isBare ? request : `${JSON.stringify(request)}\n`);
  }

  async next(): Promise<JsonObject> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the worker ended the connection");
    return JSON.parse(value) as JsonObject;
  }

  /** Sends a request and gives the next line. */
  async ask(request: JsonObject | string | Buffer): Promise<JsonObject> {
    this.send(request);
    return this.next();
  }

  async session(params: JsonObject = {}): Promise<string> {
    return (await this.ask({ type: "create_session", params }))["session_id"] as string;
  }

  /** The tokens of a generation and its last line. */
  async generate(request: JsonObject): Promise<{ readonly text: string; readonly end: JsonObject }> {
    let text = "";
    let line = await this.ask({ type: "generate", ...request });
    for (; line["type"] === "token"; line = await this.next()) text += line["text"] as string;
    return { text, end: line };
  }

  close(): void {
    this.socket.destroy();
  }
}
