import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { assertLoopback } from "./loopback.ts";

/** A server in a process of its own. */
export interface Server {
  readonly pid: number;
  readonly url: string;
  /** The token that a caller has to show; empty where none is asked for. */
  readonly token: string;
  end(): Promise<void>;
}

/** The command line of this repository. */
export const VIDRO = fileURLToPath(new URL("../../packages/cli/bin/vidro", import.meta.url));

/** Starts a script of this folder's parent that says its port when it is ready. */
export async function scriptServer(script: string, ...args: readonly string[]): Promise<Server> {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const flags = ["--conditions=vidro-source", "--disable-warning=ExperimentalWarning"];
  const { line, ...server } = await ready([process.execPath, ...flags, path, ...args]);
  return { ...server, url: `http://127.0.0.1:${line}`, token: "" };
}

/** Starts the daemon with a home and a workspace of its own; of the machine's settings it knows nothing. */
export async function vidroUp(home: string, settings: { readonly [name: string]: string } = {}): Promise<Server> {
  const daemon = await ready([VIDRO, "up", "--json", "--port", "0"], home, settings);
  const { url, token_file: file } = JSON.parse(daemon.line) as { readonly url: string; readonly token_file: string };
  return { pid: daemon.pid, end: daemon.end, url, token: readFileSync(file, "utf8").trim() };
}

type Ready = Pick<Server, "pid" | "end"> & { readonly line: string };

async function ready(argv: readonly string[], home?: string, settings = {}): Promise<Ready> {
  const [command = "", ...args] = argv;
  const own = home === undefined ? {} : { cwd: home, env: { PATH: process.env["PATH"], HOME: home, ...settings } };
  const child = spawn(command, args, { ...own, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-SAID_CHARS)));
  const died = closed.then(([code]) => {
    throw new Error(`${argv.join(" ")} ended with ${code}: ${said}`);
  });
  const [line] = (await Promise.race([once(child.stdout, "data"), died])) as [Buffer];
  died.catch(() => undefined);
  child.stdout.resume();
  const pid = child.pid ?? 0;
  assertLoopback(pid);
  return {
    pid,
    line: line.toString("utf8").trim(),
    async end() {
      child.kill();
      await closed;
    },
  };
}

const SAID_CHARS = 1000;
