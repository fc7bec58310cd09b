import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Interface } from "node:readline";
import type { Stage } from "../../packages/cli/src/stage.fixture.ts";
import type { LiveObjects } from "./live-objects.ts";
import type { NetworkHost } from "./namespaces.ts";

/** The line with which a daemon says that it is ready. */
interface Ready {
  readonly url: string;
  readonly token_file: string;
}

/** The command that starts a daemon, its environment, and the folder that it works in. */
export type DaemonHome = Pick<Stage, "command" | "workspace">;

/** How a daemon is started. */
export interface DaemonStart {
  /** Words behind `vidro up --json`; without a port it listens on a free one, so that tests can run side by side. */
  readonly flags?: readonly string[];
  /** Flags of Node. */
  readonly node?: readonly string[];
  /** The machine that it runs on; this one when none is named. */
  readonly host?: NetworkHost;
  /** A program and its words that the daemon is started by, such as `unshare`. */
  readonly wrap?: readonly string[];
}

/** A daemon in a process of its own, which can be looked at from outside. */
export class DaemonProcess implements AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #log: () => string;

  private constructor(child: ChildProcess, told: { lines: Interface; log: () => string }, ready: Ready) {
    this.#child = child;
    this.#lines = told.lines;
    this.#log = told.log;
    this.pid = child.pid ?? 0;
    this.url = ready.url;
    this.token = readFileSync(ready.token_file, "utf8").trim();
  }

  /** Starts the daemon of a stage; resolves when it takes requests. */
  static async up(
    stage: DaemonHome,
    { flags = [], node = [], host, wrap = [] }: DaemonStart = {},
  ): Promise<DaemonProcess> {
    const { argv, env } = stage.command;
    const [program = "", ...rest] = argv;
    const port = flags.includes("--port") ? [] : ["--port", "0"];
    const command = [...wrap, program, ...node, ...rest, "up", "--json", ...port, ...flags];
    const [first = "", ...args] = host === undefined ? command : host.argv(...command);
    const child = spawn(first, args, { cwd: stage.workspace, env, stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log = (log + chunk.toString("utf8")).slice(-LOG_CHARS)));
    const lines = createInterface({ input: child.stdout });
    const ended = once(child, "close").then(() => Promise.reject(new Error(`The daemon ended:\n${log}`)));
    ended.catch(() => undefined);
    const [line] = (await Promise.race([once(lines, "line"), ended])) as [string];
    return new DaemonProcess(child, { lines, log: () => log }, JSON.parse(line) as Ready);
  }

  get port(): string {
    return new URL(this.url).port;
  }

  /** The last part of its log. */
  get log(): string {
    return this.#log();
  }

  /** A request of the administrator. */
  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.token}`);
    if (init.body !== undefined) headers.set("content-type", "application/json");
    return fetch(this.url + path, { ...init, headers });
  }

  /** Starts a run and gives its id. */
  async run(task: string): Promise<string> {
    const response = await this.ask("/v1/runs", { method: "POST", body: JSON.stringify({ task }) });
    return ((await response.json()) as { id: string }).id;
  }

  /** What is alive in it, when it was started so that it counts. */
  async census(): Promise<LiveObjects> {
    const line = once(this.#lines, "line");
    this.#child.kill("SIGUSR2");
    return JSON.parse(((await line) as [string])[0]) as LiveObjects;
  }

  /** How many answers it is streaming. */
  async streams(): Promise<number> {
    const metrics = await (await this.ask("/metrics")).text();
    return Number(/^vidro_streams_open (\d+)$/m.exec(metrics)?.[1]);
  }

  /** How many descriptors it has open. */
  get descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Its memory. */
  get rssBytes(): number {
    const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8")) ?? [];
    return Number(kib) * 1024;
  }

  /** Signals it, and gives the exit code when it is gone. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const gone = once(this.#child, "exit");
    this.#child.kill(signal);
    const [code] = (await gone) as [number | null];
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
  }
}

const LOG_CHARS = 64_000;

/** Waits until something has become true, looking often; rejects when it takes too long. */
export async function until(what: string, isTrue: () => Promise<boolean> | boolean, longestMs = 30_000): Promise<void> {
  const endsAt = performance.now() + longestMs;
  while (!(await isTrue())) {
    if (performance.now() > endsAt) throw new Error(`It did not come to pass in ${longestMs / 1000} s: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const LOOK_MS = 50;
