import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
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
  /** Reads text that is no JSON. */
  read(path: string): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>;
  /** The entries of a run, once it is over. */
  entries(run: string): Promise<readonly Entry[]>;
  readonly url: string;
  /** The administrator's token. */
  readonly admin: string;
  /** Sends a request with the administrator's token, or with another one. */
  ask(method: string, path: string, body?: JsonObject, token?: string): Promise<DaemonAnswer>;
  /** Makes a token of an owner that may do what the scopes say; may start runs without any. */
  tokenOf(owner: string, scopes?: readonly string[]): Promise<string>;
}

/** Starts a daemon whose home and workspace are gone in the end; more settings are given as variables. */
export async function servedDaemon({
  localHand = true,
  env = {},
}: { readonly localHand?: boolean; readonly env?: { readonly [name: string]: string } } = {}): Promise<ServedDaemon> {
  const workspace = await mkdtemp(join(tmpdir(), "vidro-served-"));
  const home = join(workspace, "state");
  const daemon = await serveDaemon({
    home,
    config: readConfig({ env: { VIDRO_MODEL: "offline", PATH: process.env["PATH"], ...env } }),
    workspace,
    host: "127.0.0.1",
    port: 0,
    onRestart: "resume",
    localHand,
    version: "1.2.3",
    writeLog: () => undefined,
  });
  const admin = (await readFile(daemon.tokenFile, "utf8")).trim();
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${admin}`, accept: "application/x-ndjson, text/plain" };
    const response = await fetch(daemon.url + path, { headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const ask: ServedDaemon["ask"] = async (method, path, body, token = admin) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(daemon.url + path, { method, headers, ...init });
    return { status: response.status, json: (await response.json()) as JsonObject };
  };
  return {
    home,
    workspace,
    url: daemon.url,
    admin,
    ask,
    async tokenOf(owner, scopes) {
      const { json } = await ask("POST", "/v1/tokens", { owner, ...(scopes === undefined ? {} : { scopes }) });
      return textOrEmpty(json, "token");
    },
    read,
    async entries(run) {
      const { text } = await read(`/v1/runs/${run}/events?live=false`);
      const lines = text.split("\n").filter((line) => line.startsWith("{"));
      return lines.map((line) => JSON.parse(line) as Entry).filter(({ seq }) => seq !== undefined);
    },
    async [Symbol.asyncDispose]() {
      await daemon.close();
      await rm(workspace, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
