import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Entry, JsonObject } from "@vidro/core";
import { openBrain } from "../../packages/brain/src/brain.ts";
import { readConfig } from "@vidro/brain/config";
import type { Brain } from "../../packages/brain/src/brain.ts";
import { serveDaemon } from "../../packages/brain/src/daemon.ts";
import { serveHttp } from "../../packages/brain/src/http/server.ts";
import { executorGateway } from "../../packages/brain/src/south/executor-ws.ts";
import type { ExecutorGatewayOptions } from "../../packages/brain/src/south/executor-ws.ts";
import { executorUpgrades } from "../../packages/brain/src/north/executor.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { fakeOpenAi } from "./fake-openai.ts";
import type { FakeOpenAi, FakeReply } from "./fake-openai.ts";
import { temporaryFolder } from "./local-runs.ts";
import { isOnServers, storeSettings } from "./store-settings.ts";

type Test = { after(done: () => Promise<void> | void): void };

/** A daemon whose model says what a test has told it. */
export interface ExecutorServer {
  readonly url: string;
  /** The administrator's. */
  readonly token: string;
  readonly model: FakeOpenAi;
  readonly home: string;
  /** A folder for an executor to work in. */
  readonly project: string;
  /** Entries of a run, as the journal's own wire shows them, up to its end. */
  entries(run: string): Promise<readonly Entry[]>;
  /** A request of the administrator. */
  ask(path: string, body?: JsonObject): Promise<Response>;
  /** Ends the daemon; another one of the same home may be started. */
  close(): Promise<void>;
}

/** A message as a model is given it. */
export interface ModelMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/** What a model was given with its n-th call; the last one without a number. */
export function messagesOfCall({ requests }: FakeOpenAi, call = -1): readonly ModelMessage[] {
  const { messages } = (requests.at(call)?.body ?? {}) as { messages?: readonly ModelMessage[] };
  return messages ?? [];
}

/** Starts a daemon in this process, without a hand of its own. */
export async function startExecutorServer(t: Test, ...replies: FakeReply[]): Promise<ExecutorServer> {
  const model = await fakeOpenAi(...replies);
  t.after(() => model.close());
  const folder = realpathSync(temporaryFolder(t));
  for (const name of ["project", "home"]) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  return daemonOf(t, { model, home: join(folder, "home"), project: join(folder, "project"), port: 0 });
}

/** Starts another daemon of the same home, at the same address. */
export function restartExecutorServer(t: Test, { model, home, project, url }: ExecutorServer): Promise<ExecutorServer> {
  return daemonOf(t, { model, home, project, port: Number(new URL(url).port) });
}

async function daemonOf(
  t: Test,
  { model, home, project, port }: Pick<ExecutorServer, "model" | "home" | "project"> & { readonly port: number },
): Promise<ExecutorServer> {
  const settings = { VIDRO_MODEL_URL: model.url, VIDRO_MODEL: "fake", ...storeSettings(home) };
  const env = { ...settings, PATH: process.env["PATH"] };
  const daemon = await serveDaemon({
    home,
    config: readConfig({ env }),
    workspace: home,
    host: "127.0.0.1",
    port,
    onRestart: "resume",
    localHand: false,
    version: "1.2.3",
    writeLog: () => undefined,
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= daemon.close());
  t.after(close);
  const { url } = daemon;
  const token = readFileSync(daemon.tokenFile, "utf8").trim();
  const ask = (path: string, body?: JsonObject): Promise<Response> =>
    fetch(url + path, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  return {
    url,
    token,
    model,
    home,
    project,
    ask,
    close,
    async entries(run) {
      const answer = await fetch(`${url}/v1/runs/${run}/events?live=false`, {
        headers: { authorization: `Bearer ${token}`, accept: "application/x-ndjson" },
      });
      const lines = (await answer.text()).split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line) as Entry).filter(({ event }) => event !== undefined);
    },
  };
}

/** The gateway alone, with bounds of its own. */
export interface ExecutorGateway {
  readonly url: string;
  readonly brain: Brain;
  readonly tokens: Tokens;
}

/** Serves the gateway of executors with other times than it has by itself, and a model that says what it is told. */
export async function startExecutorGateway(
  t: Test,
  { now = Date.now, bounds = {} }: Pick<ExecutorGatewayOptions, "bounds"> & { readonly now?: () => number },
  ...replies: FakeReply[]
): Promise<ExecutorGateway> {
  const model = await fakeOpenAi(...replies);
  t.after(() => model.close());
  const home = temporaryFolder(t);
  const env = { VIDRO_MODEL_URL: model.url, VIDRO_MODEL: "fake", ...storeSettings(home) };
  const store = isOnServers ? "sqlite" : "memory";
  const brain = await openBrain({ home, config: readConfig({ env }), store });
  const tokens = new Tokens(brain.records);
  const log = (): void => undefined;
  const server = await serveHttp({
    surfaces: [{ name: "none", routes: [], faultBody: (fault) => ({ code: fault.code }) }],
    upgrades: executorUpgrades({
      ...brain,
      gateway: () => executorGateway({ hands: brain.hands, log, bounds }),
      log,
      version: "1",
      now,
    }),
    tokens,
    records: brain.records,
    host: "127.0.0.1",
    port: 0,
    production: false,
    log,
    bounds: { drainMs: 100 },
  });
  t.after(async () => {
    await server.close();
    tokens.close();
    await brain.close();
  });
  return { url: server.url, brain, tokens };
}
