import { Fault, redactor } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";
import { agentsOf } from "./agents.ts";
import { openBrain, secretsIn } from "./compose.ts";
import type { Brain, BrainOptions } from "./compose.ts";
import { findDaemon, readPem, removeDaemonFile, tokenFile, writeDaemonFile } from "./daemon-file.ts";
import { jsonLog } from "./log.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";
import type { HandCount } from "./metrics.ts";
import { serveHttp } from "./north/http.ts";
import type { HttpServer } from "./north/http.ts";
import type { Health } from "./north/ops.ts";
import { surfaces } from "./north/surfaces.ts";
import type { SurfaceWorld } from "./north/surfaces.ts";
import { observed } from "./observe.ts";
import { signedTokens } from "./signed-tokens.ts";
import { Threads } from "./threads.ts";
import { Tokens } from "./tokens.ts";
import { firstToken } from "./tokens/first-token.ts";

/** How a daemon is to be. */
export interface DaemonOptions extends Pick<BrainOptions, "home" | "env" | "store"> {
  /** The folder that its local hand works in. */
  readonly workspace: string;
  readonly host: string;
  readonly port: number;
  /** Files in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** What becomes of runs that were open when the last daemon ended. */
  readonly onRestart: "resume" | "hold";
  /** Without it, nothing is executed on this machine. */
  readonly localHand: boolean;
  readonly version: string;
  /** Gets the log, a line of JSON at a time. */
  readonly writeLog: (line: string) => void;
}

/** A daemon that is up. */
export interface Daemon {
  readonly url: string;
  /** Where the administrator's token lies. */
  readonly tokenFile: string;
  readonly pid: number;
  /** Takes no more work, lets requests end, stops driving, and closes the store; open runs go on later. */
  close(): Promise<void>;
}

/** Starts the daemon of a home: its store, its hand, its surfaces; resolves when it takes requests. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, env } = options;
  await refuseSecond(home);
  const log = jsonLog(options.writeLog, redactor(secretsIn(env)));
  const jwt = await signedTokens(env);
  const metrics = new Metrics();
  const brain = await openBrain({
    home,
    env,
    ...(options.store === undefined ? {} : { store: options.store }),
    localHand: options.localHand,
    observe: (journal) => observed(journal, { metrics, log }),
    log,
    report: (traceId, thrown) =>
      log("error", "a run met a fault of our own", { trace_id: traceId, stack: stackOf(thrown) }),
  });
  const tokens = new Tokens(brain.records, jwt === undefined ? {} : { jwt });
  let server: HttpServer | undefined;
  const close = async (): Promise<void> => {
    await server?.close();
    tokens.close();
    await brain.close();
    metrics.close();
    await removeDaemonFile(home);
    log("info", "the daemon is down");
  };
  try {
    await firstToken(tokens, tokenFile(home));
    if (options.onRestart === "resume") await recover(brain, log);
    server = await serve(options, { brain, tokens, metrics, log });
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const { url } = server;
  const said = { url, tokenFile: tokenFile(home) };
  await writeDaemonFile(home, { ...said, workspace: options.workspace, startedAt: Date.now() });
  log("info", "the daemon is up", { url, pid: process.pid });
  return { ...said, pid: process.pid, close };
}

interface Parts {
  readonly brain: Brain;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly log: Log;
}

async function serve(options: DaemonOptions, parts: Parts): Promise<HttpServer> {
  const { host, port, tls, env } = options;
  const { brain, tokens, metrics, log } = parts;
  const production = env["NODE_ENV"] === "production";
  return serveHttp({
    surfaces: surfaces({ ...(await worldOf(options, parts)), production }),
    tokens,
    records: brain.records,
    host,
    port,
    ...(tls === undefined ? {} : { tls: { cert: await readPem(tls.cert), key: await readPem(tls.key) } }),
    hosts: listed(env["VIDRO_HOSTS"]),
    origins: listed(env["VIDRO_ORIGINS"]),
    production,
    log,
    metrics,
  });
}

/** What surfaces may ask for, put together. */
async function worldOf(options: DaemonOptions, { brain, metrics }: Parts): Promise<Omit<SurfaceWorld, "production">> {
  const { workspace, version, home } = options;
  const { runs, records } = brain;
  const hand = new HandWatch(options, brain);
  await hand.look();
  metrics.hands = () => hand.count();
  const agents = agentsOf(home, records);
  await agents.load();
  const tools = async (): Promise<readonly ToolSpec[]> => (await brain.hand(workspace)).tools;
  return {
    runs,
    agents,
    threads: new Threads(records, { agents, tools }),
    tools,
    workspace,
    version,
    metrics,
    hands: () => hand.reached(),
    // No model of this brain is behind a worker's socket.
    worker: async () => false,
    async health() {
      const [store] = await Promise.all([storeHealth(brain), hand.look()]);
      return { store, hands: hand.health };
    },
  };
}

/** Whether the hand on this machine can be had; a brain without it still answers, and shows what was run. */
class HandWatch {
  readonly #options: Pick<DaemonOptions, "localHand" | "workspace">;
  readonly #brain: Brain;
  #id: string | undefined;

  constructor(options: Pick<DaemonOptions, "localHand" | "workspace">, brain: Brain) {
    this.#options = options;
    this.#brain = brain;
  }

  get health(): Health {
    return this.#id === undefined && this.#options.localHand ? "degraded" : "ok";
  }

  async look(): Promise<void> {
    if (!this.#options.localHand) return;
    const found = await this.#brain.hand(this.#options.workspace).catch(() => undefined);
    this.#id = found?.id;
  }

  reached(): readonly string[] {
    return this.#id === undefined ? [] : [this.#id];
  }

  count(): HandCount {
    const ok = this.reached().length;
    return { ok, degraded: 0, down: this.#options.localHand ? 1 - ok : 0 };
  }
}

/** Two daemons on one home would each think the other's runs their own. */
async function refuseSecond(home: string): Promise<void> {
  const other = await findDaemon(home);
  if (other !== undefined)
    throw new Fault("CONFLICT", `A daemon of this home is up already: ${other.url}, process ${other.pid}.`);
}

async function recover(brain: Brain, log: Log): Promise<void> {
  const { resumed, refused } = await brain.runs.recover();
  if (resumed > 0) log("info", "runs are taken up again", { runs: resumed });
  for (const { run, fault } of refused)
    log("warn", "a run cannot be taken up again", { run_id: run, code: fault.code, reason: fault.message });
}

async function storeHealth(brain: Brain): Promise<Health> {
  return brain.runs.list({ limit: 1 }).then(
    () => "ok",
    () => "down",
  );
}

function listed(names: string | undefined): readonly string[] {
  return (names ?? "").split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
