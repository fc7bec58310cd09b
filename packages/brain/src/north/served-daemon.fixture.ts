import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@vidro/core";
import { readConfig } from "../config.ts";
import { serveDaemon } from "../daemon.ts";

/** An answer of a daemon, with its status. */
interface DaemonAnswer {
  readonly status: number;
  readonly json: JsonObject;
}

/** A daemon in this process with a real hand; its model is the built-in one. */
export interface ServedDaemon extends AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  /** Sends a request with the administrator's token, or with another one. */
  ask(method: string, path: string, body?: JsonObject, token?: string): Promise<DaemonAnswer>;
}

/** Starts a daemon whose home and workspace are gone in the end. */
export async function servedDaemon(localHand = true): Promise<ServedDaemon> {
  const workspace = await mkdtemp(join(tmpdir(), "vidro-served-"));
  const home = join(workspace, "state");
  const daemon = await serveDaemon({
    home,
    config: readConfig({ env: { VIDRO_MODEL: "offline", PATH: process.env["PATH"] } }),
    workspace,
    host: "127.0.0.1",
    port: 0,
    onRestart: "resume",
    localHand,
    version: "1.2.3",
    writeLog: () => undefined,
  });
  const admin = (await readFile(daemon.tokenFile, "utf8")).trim();
  return {
    home,
    workspace,
    async ask(method, path, body, token = admin) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(daemon.url + path, { method, headers, ...init });
      return { status: response.status, json: (await response.json()) as JsonObject };
    },
    async [Symbol.asyncDispose]() {
      await daemon.close();
      await rm(workspace, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
