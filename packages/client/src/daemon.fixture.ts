import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bundledCommands } from "../../../scripts/test-bundle.js";

/** A brain in a process of its own, with a home and a workspace that are gone in the end. */
export interface Daemon extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly workspace: string;
}

/** Starts a daemon whose model is the built-in one. */
export async function daemon(): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), "vidro-client-"));
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [bundledCommands().vidro, "up", "--json", "--port", "0"], {
    cwd: workspace,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder, VIDRO_HOME: join(folder, "state"), VIDRO_MODEL: "offline" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { url, token_file: tokenFile } = await ready(child.stdout);
  return {
    url,
    token: (await readFile(tokenFile, "utf8")).trim(),
    workspace,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "exit");
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function ready(stdout: NodeJS.ReadableStream): Promise<{ readonly url: string; readonly token_file: string }> {
  for await (const text of createInterface({ input: stdout })) {
    const line = JSON.parse(text) as { ready?: true; url: string; token_file: string };
    if (line.ready === true) return line;
    throw new Error(`The daemon did not come up: ${text}`);
  }
  throw new Error("The daemon did not come up.");
}
