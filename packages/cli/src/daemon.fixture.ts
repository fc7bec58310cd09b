import { once } from "node:events";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { lines } from "./stage.fixture.ts";
import type { Stage } from "./stage.fixture.ts";

/** A daemon in its own process. */
export interface RunningDaemon extends AsyncDisposable {
  readonly url: string;
  readonly port: string;
  /** Token of the administrator. */
  readonly token: string;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts the daemon of a stage; resolves when it is ready. */
export async function up(stage: Stage, port = "0"): Promise<RunningDaemon> {
  const child = stage.start("up", "--json", "--port", port);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  const [ready] = await firstLine(child);
  if (ready?.["ready"] !== true) throw new Error(`The daemon did not come up:\n${log}`);
  const url = String(ready["url"]);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const token = (await readFile(String(ready["token_file"]), "utf8")).trim();
  return { url, port: new URL(url).port, token, kill, [Symbol.asyncDispose]: kill };
}

async function firstLine(child: ChildProcessWithoutNullStreams): Promise<ReturnType<typeof lines>> {
  for await (const text of createInterface({ input: child.stdout })) return lines(text);
  return [];
}
