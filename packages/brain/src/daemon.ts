import { thrownStack } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";
import { startBackgroundWork } from "./background-work.ts";
import type { BackgroundWork } from "./background-work.ts";
import { openAgentCatalog } from "./catalog/agents.ts";
import { openBrain } from "./brain.ts";
import type { Brain, BrainOptions } from "./brain.ts";
import { endContained } from "./observe/containment.ts";
import { readPem } from "./auth/pem.ts";
import { tokenFile, writeDaemonFile } from "./daemon/daemon-file.ts";
import { holdHome } from "./daemon/daemon-lock.ts";
import { HealthWatch } from "./observe/health.ts";
import { jsonLog } from "./observe/log.ts";
import type { Log } from "./observe/log.ts";
import { Metrics } from "./observe/metrics.ts";
import { serveHttp } from "./http/server.ts";
import type { HttpServer } from "./http/server.ts";
import { surfaces } from "./north/surfaces.ts";
import type { SurfaceDependencies } from "./north/surfaces.ts";
import { observeJournal } from "./observe/journal-observer.ts";
import { openReloadableJwt } from "./reloadable-jwt.ts";
import { executorUpgrades } from "./north/executor.ts";
import { makeGateways } from "./south/gateways.ts";
import type { Gateways } from "./south/gateways.ts";
import type { ArchiveSource } from "./south/enrolment/archives.ts";
import { LeaseSweeper } from "./run/lease-sweeper.ts";
import type { OnRestart } from "./run/lease-sweeper.ts";
import { localImages, openHomePolicy } from "./south/local.ts";
import type { Reloadable } from "./south/local.ts";
import { JournalSurvey } from "./observe/journal-survey.ts";
import { TelemetryStore } from "./observe/telemetry.ts";
import { tcpTables } from "./http/tcp-tables.ts";
import { Hooks } from "./hooks/hooks.ts";
import { Schedules } from "./schedules/schedules.ts";
import { StoredResponses } from "./catalog/responses.ts";
import { Threads } from "./catalog/threads.ts";
import { isWorkerThere, workerUrl } from "./models/worker-uds/probe.ts";
import { Sessions } from "./auth/sessions.ts";
import { Tokens } from "./auth/tokens.ts";
import { webhookJournal } from "./webhooks/webhook-journal.ts";
import { Webhooks } from "./webhooks/webhooks.ts";
import { openConsoleFiles } from "./http/console-files.ts";
import { tellRestored } from "./tell-restored.ts";
import { RevokedRuns } from "./run/revoked-runs.ts";
import { homeRedactor } from "./daemon/own-secrets.ts";
import { ensureFirstToken } from "./auth/first-token.ts";

/** A certificate and its key. */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Options of a daemon. */
export interface DaemonOptions extends Pick<BrainOptions, "home" | "config" | "store" | "restored"> {
  /** The folder that its local hand works in. */
  readonly workspace: string;
  readonly host: string;
  readonly port: number;
  /** Files in PEM. */
  readonly tls?: TlsFiles;
  /** Whether runs that were open when the last daemon ended go on or wait. */
  readonly onRestart: OnRestart;
  /** Without it, nothing is executed on this machine. */
  readonly localHand: boolean;
  /** Where hands on other machines connect; without port and hosts, it opens with the first invitation. */
  readonly southbound?: {
    readonly port?: number;
    /** Names and addresses by which other machines reach this one. */
    readonly hosts?: readonly string[];
    /** Where the archives lie that invited hosts install. */
    readonly archives?: ArchiveSource;
  };
  readonly version: string;
  /** The flags of its command and its log file, for who stops or restarts it. */
  readonly command?: { readonly args: readonly string[]; readonly log?: string };
  /** Lives for one command: writes no `daemon.json`, takes no lock, and leaves other runs alone. */
  readonly hidden?: boolean;
  /** Receives the log, one line of JSON at a time. */
  readonly writeLog: (line: string) => void;
  /**
   * Receives, before any run goes on, the handler for uncaught errors of the process: it logs and counts them, and ends
   * only the run, request or link that they belong to.
   */
  readonly onUncaught?: (handle: (thrown: unknown) => void) => void;
}

/** A daemon that is up. */
export interface Daemon {
  readonly url: string;
  /** Address that hands on other machines connect to, if it is open. */
  readonly southbound?: string;
  /** File with the administrator's token. */
  readonly tokenFile: string;
  readonly pid: number;
  readonly log: Log;
  /** What can be read again from its files: policy of the hand, agents, certificate, keys of signed tokens. */
  reloadables(): readonly Reloadable[];
  /** Address of the console that signs a browser in as the administrator, once and soon. */
  consoleLink(): string;
  /** Accepts no more requests, waits for open ones, stops driving runs, and closes the store; open runs go on later. */
  close(): Promise<void>;
}

/** Starts the only daemon of a home: its store, its hand, its surfaces; resolves when it accepts requests. */
export async function serveDaemon(options: DaemonOptions): Promise<Daemon> {
  if (options.hidden === true) return openDaemon(options);
  const place = await holdHome(options.home);
  try {
    const daemon = await openDaemon(options);
    const close = async (): Promise<void> => {
      try {
        await daemon.close();
      } finally {
        await place.leave();
      }
    };
    return { ...daemon, close };
  } catch (thrown) {
    await place.leave();
    throw thrown;
  }
}

async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, hidden = false } = options;
  const parts = await openParts(options);
  const { brain, gateways, log, reloadables } = parts;
  let server: HttpServer | undefined;
  let southbound: string | undefined;
  let adminToken = "";
  let background: BackgroundWork | undefined;
  const close = async (): Promise<void> => {
    await server?.close();
    await background?.close();
    await closeParts(parts);
  };
  const world = await worldOf(options, parts).catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  try {
    adminToken = await ensureFirstToken(parts.tokens, tokenFile(home));
    await tellRestored(brain, log);
    // A daemon that lives for one command leaves the runs of others alone.
    if (!hidden) {
      await parts.revokedRuns.start();
      await parts.sweeper.start(options.onRestart);
    }
    await parts.watch.start();
    server = await serve(options, parts, world);
    if (!hidden) [southbound] = await Promise.all([gateways["agent-ws"].open(), gateways["agent-tcp"].open()]);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const { url } = server;
  const place = { url, tokenFile: tokenFile(home) };
  if (!hidden) {
    const { workspace, command = { args: [] } } = options;
    const model = options.config.get("model");
    const settings = model === undefined ? {} : { model };
    await writeDaemonFile(home, { ...place, ...command, ...settings, workspace, startedAt: Date.now() });
    parts.survey.start();
    background = startBackgroundWork({
      brain,
      config: options.config,
      scheduled: world,
      webhooks: parts.webhooks,
      log,
    });
  }
  log("daemon.started", { url, pid: process.pid });
  return {
    ...place,
    ...(southbound === undefined ? {} : { southbound }),
    pid: process.pid,
    log,
    close,
    consoleLink: () => `${url}/#code=${parts.sessions.createLink(adminToken.split(".")[0] ?? "").code}`,
    reloadables: () => [...brain.reloadables, ...reloadables],
  };
}

function countedTelemetry(metrics: Metrics): TelemetryStore {
  return new TelemetryStore({
    now: Date.now,
    counted: () => metrics.ingest.inc({ kind: "telemetry" }),
    dropped: (why) => metrics.samplesDropped.inc({ why }),
  });
}

/** Opens the store and makes everything that a daemon consists of; nothing is started yet. */
async function openParts(options: DaemonOptions): Promise<Parts> {
  const { home, config } = options;
  const log = jsonLog(options.writeLog, homeRedactor(home, config.secrets()));
  const reloadables: Reloadable[] = [];
  const jwt = await openReloadableJwt(config, reloadables, log);
  const metrics = new Metrics();
  options.onUncaught?.((thrown) => endContained(thrown, { log, metrics }));
  let watch: HealthWatch | undefined;
  let webhooks!: Webhooks;
  const brain = await openBrain({
    home,
    config,
    ...(options.store === undefined ? {} : { store: options.store }),
    restored: options.restored === true,
    localHand: options.localHand,
    observe: (journal, records) =>
      observeJournal(webhookJournal(journal, (webhooks = new Webhooks(records, Date.now))), {
        metrics,
        log,
        wrote: (thrown) => watch?.wrote(thrown),
      }),
    droppedSpans: (spans) => metrics.spansDropped.inc(undefined, spans),
    log,
    report: (traceId, thrown) => log("run.faulted", { trace_id: traceId, stack: thrownStack(thrown) }),
  });
  await webhooks.open();
  watch = new HealthWatch({ home, ...brain, metrics, log, holdsRuns: options.onRestart === "hold" });
  const tokens = new Tokens(brain.records, jwt === undefined ? {} : { jwt });
  const sessions = new Sessions(brain.records, tokens);
  const telemetry = countedTelemetry(metrics);
  const gateways = makeGateways({
    ...brain,
    home,
    takeSample: (hand, push) => telemetry.take(hand, push),
    southbound: options.southbound,
    version: options.version,
    log,
  });
  const survey = new JournalSurvey(brain.journal, log);
  const sweeper = new LeaseSweeper({ runs: brain.runs, log, now: Date.now });
  const revokedRuns = new RevokedRuns({ tokens, runs: brain.runs, log });
  return {
    brain,
    webhooks,
    watch,
    tokens,
    sessions,
    metrics,
    telemetry,
    gateways,
    survey,
    sweeper,
    revokedRuns,
    reloadables,
    log,
  };
}

async function closeParts(parts: Parts): Promise<void> {
  const { brain, watch, tokens, metrics, gateways, survey, sweeper, revokedRuns, log } = parts;
  watch.close();
  await Promise.all([
    survey.close(),
    gateways["agent-ws"].close(),
    gateways["agent-tcp"].close(),
    sweeper.close(),
    revokedRuns.close(),
  ]);
  tokens.close();
  parts.webhooks.close();
  await brain.close();
  metrics.close();
  log("daemon.stopped");
}

interface Parts {
  readonly brain: Brain;
  readonly webhooks: Webhooks;
  /** Checks the health of the daemon. */
  readonly watch: HealthWatch;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly metrics: Metrics;
  /** Receives the telemetry of hands from gateways. */
  readonly telemetry: TelemetryStore;
  readonly gateways: Gateways;
  readonly survey: JournalSurvey;
  readonly sweeper: LeaseSweeper;
  readonly revokedRuns: RevokedRuns;
  /** Collects what can be read again from its files. */
  readonly reloadables: Reloadable[];
  readonly log: Log;
}

async function serve(options: DaemonOptions, parts: Parts, world: World): Promise<HttpServer> {
  const { host, port, tls, config } = options;
  const { brain, tokens, metrics, reloadables, log } = parts;
  const production = config.get("node_env") === "production";
  const ownersApprove = config.get("owners_approve");
  const readTls = async ({ cert, key }: TlsFiles) => ({ cert: await readPem(cert), key: await readPem(key) });
  const server = await serveHttp({
    surfaces: surfaces({
      ...world,
      production,
      ownersApprove,
      answerLinks: config.get("answer_links"),
      ...(config.get("fetch_images") ? { fetchImage: localImages(options.home) } : {}),
    }),
    tokens,
    sessions: parts.sessions,
    upgrades: executorUpgrades({
      ...brain,
      gateway: parts.gateways["executor-ws"],
      log,
      version: options.version,
      ownersApprove,
    }),
    records: brain.records,
    host,
    port,
    ...(tls === undefined ? {} : { tls: await readTls(tls) }),
    hosts: config.get("hosts") ?? [],
    origins: config.get("origins") ?? [],
    production,
    log,
    metrics,
    ...(process.platform === "linux" ? { tables: tcpTables } : {}),
  });
  if (tls !== undefined)
    reloadables.push({ what: "TLS certificate", reload: async () => server.secure?.(await readTls(tls)) });
  return server;
}

/** What surfaces may use, but for their settings. */
type World = Omit<SurfaceDependencies, "production" | "ownersApprove">;

/** Makes everything that surfaces may use. */
async function worldOf(options: DaemonOptions, parts: Parts): Promise<World> {
  const { workspace, version, home, config } = options;
  const { brain, watch, metrics, telemetry, gateways, reloadables } = parts;
  const { runs, records, spending, hands, local, knowledge, keptTools, documents } = brain;
  await local?.show({ workspace, version });
  metrics.hands = () => hands.count();
  const agents = openAgentCatalog(home, records);
  await agents.load();
  reloadables.push({ what: "agents", reload: () => agents.reload() });
  const tools = (ids?: string): Promise<readonly ToolSpec[]> => hands.tools(ids);
  return {
    runs,
    wholeOutput: brain.wholeOutput,
    verify: (run) => brain.journal.verify(run),
    ...(brain.audit === undefined ? {} : { checkSeals: brain.audit.checkRun }),
    agents,
    threads: new Threads(records, { agents, tools }),
    responses: new StoredResponses(records),
    schedules: new Schedules(records, Date.now),
    hooks: new Hooks(records, Date.now),
    spending,
    tools: (asker) => hands.catalog(asker),
    workspace,
    version,
    metrics,
    telemetry,
    admission: gateways["agent-ws"],
    dialler: gateways["agent-tcp"],
    sessions: parts.sessions,
    webhooks: parts.webhooks,
    tokens: parts.tokens,
    consoleFiles: openConsoleFiles(),
    hands,
    knowledge,
    keptTools,
    documents,
    ...(local === undefined ? {} : { policy: await openHomePolicy({ home, workspace, ...brain }) }),
    storage: {
      store: config.get("store") === undefined ? "sqlite" : "postgresql",
      bus: config.get("bus") === undefined ? null : "redis",
    },
    async modelChain() {
      const { name, because } = await brain.model();
      return { models: name.split(","), because };
    },
    tryModel: async (name, signal) => (await import("./try-model.ts")).tryModel(config, name, signal),
    worker: () => isWorkerThere(workerUrl(config.get("worker_socket"))),
    async health() {
      await Promise.all([watch.look(), local?.check()]);
      return { ...watch.checks(), hands: hands.health };
    },
    details: () => watch.details(),
  };
}
