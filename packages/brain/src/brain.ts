import { randomUUIDv7 } from "node:crypto";
import { join } from "node:path";
import { Fault, MODEL_LIMITS, OFFLINE_LIMITS } from "@vidro/core";
import manifest from "../package.json" with { type: "json" };
import { makeHome } from "./daemon/home-folder.ts";
import { homeRedactor } from "./daemon/own-secrets.ts";
import type { Bus, Hand, Journal, LiveBus, Records, SpendingSums } from "@vidro/core";
import type { Language } from "@vidro/core/text";
import { isTokenRevoked } from "./auth/tokens.ts";
import type { Config } from "./config.ts";
import { thisHolder } from "./stores/lease-holder.ts";
import { openBus } from "./bus/buses.ts";
import { liveBus } from "./run/live-bus.ts";
import type { Log } from "./observe/log.ts";
import { BOOTSTRAP } from "@vidro/core/run";
import { bootstrapModel } from "./models/bootstrap.ts";
import { chooseModel } from "./models/choose.ts";
import type { ChosenModel } from "./models/choose.ts";
import { keySourceOf } from "./models/key-source.ts";
import type { Knowledge } from "./knowledge/knowledge.ts";
import { Documents } from "./knowledge/documents.ts";
import { knowledgeJournal } from "./knowledge/knowledge-journal.ts";
import { lateKnowledge } from "./knowledge/late-knowledge.ts";
import { sqliteKnowledge } from "./knowledge/sqlite-knowledge.ts";
import { KeptTools } from "./catalog/kept-tools.ts";
import { keptToolJournal } from "./run/kept-tool-journal.ts";
import { Runs } from "./run/runs.ts";
import { TaskStreams } from "./run/task-streams.ts";
import { wholeOutputs } from "./run/whole-output.ts";
import type { ReadWholeOutput } from "./run/whole-output.ts";
import { RunRequests } from "./run/run-requests.ts";
import { sharedCostsIn } from "./run/shared-costs.ts";
import type { CostBounds } from "./run/shared-costs.ts";
import type { FileEditor, LocalOptions, Reloadable } from "./south/local.ts";
import { HandRegister } from "./south/register/hand-register.ts";
import { LocalHands } from "./south/register/local-hands.ts";
import type { RelayOptions } from "./south/relay.ts";
import { LOCAL_HAND, localDocuments, openLocalHand } from "./south/local.ts";
import { sealKey } from "./stores/seal.ts";
import { openAgentCatalog } from "./catalog/agents.ts";
import { HelperRuns } from "./run/helper-runs.ts";
import type { AgentFinder } from "./run/helper-runs.ts";
import { delegateTool } from "./tools/delegate.ts";
import { equippedHand } from "./tools/equipped-hand.ts";
import { researchTool } from "./tools/research.ts";
import { readSkillFile, readSkills, skillFiles } from "./catalog/skill-files.ts";
import { skillTools } from "./tools/skill.ts";
import { searchWebTool } from "./tools/search-web.ts";
import { chooseSearch } from "./tools/web-search/choose-search.ts";
import type { Audit, Incarnation, Retention, Store, StoreCondition } from "./stores/store.ts";
import { mirrorRevocations } from "./stores/revocation-file.ts";
import { openStore, storeNamed } from "./stores/stores.ts";

/** An open brain. */
export interface Brain {
  readonly runs: Runs;
  readonly journal: Journal;
  readonly records: Records;
  /** What models used and cost, by day and thread. */
  readonly spending: SpendingSums;
  /** The whole outputs that hands keep. */
  readonly wholeOutput: ReadWholeOutput;
  /** Incarnation of the store; it tells whether the store was restored from a backup. */
  readonly incarnation: Incarnation;
  /** Audit of the store against its seals; a store in memory has none. */
  readonly audit?: Audit;
  /** Deletion of ended runs; a store in memory has none. */
  readonly retention?: Retention;
  /** The model of that name, or the configured one; opened at its first use. */
  readonly model: (name?: string) => Promise<ChosenModel>;
  /** The local hand for a workspace. */
  readonly hand: (workspace: string) => Promise<Hand>;
  /** The hands of this machine and of others. */
  readonly hands: HandRegister;
  /** The hand of this machine, unless it was left out at the start. */
  readonly local?: LocalHands;
  /** Settings that can be read again from their files. */
  readonly reloadables: ReadonlySet<Reloadable>;
  readonly condition: StoreCondition;
  /** Findings of earlier runs and of people. */
  readonly knowledge: Omit<Knowledge, "close">;
  /** Tools that models proposed and people approved. */
  readonly keptTools: KeptTools;
  /** The documents of the configured folders. */
  readonly documents: Pick<Documents, "search" | "status" | "refresh" | "start">;
  /** The way to other brains, if one is set. */
  readonly bus?: Bus;
  /** Stops driving runs, ends the processes of the local hands, closes the store; open runs go on later. */
  close(): Promise<void>;
}

/** Options of a brain. */
export interface BrainOptions {
  /** Folder of all state; made when it is missing. */
  readonly home: string;
  readonly config: Config;
  readonly store?: "sqlite" | "memory";
  /** Whether a hand works on this machine; if not, runs that need one get HAND_UNAVAILABLE. */
  readonly localHand?: boolean;
  /** The editor that has a workspace open on this machine; asked once for each hand that is opened. */
  readonly editor?: (workspace: string) => FileEditor | undefined;
  /** A person says that the store was restored from a backup. */
  readonly restored?: boolean;
  /** Wraps the journal that runs write to, for metrics, logs and webhooks. */
  readonly observe?: (journal: Journal, records: Records) => Journal;
  readonly log?: Log;
  /** Called with the number of spans of traces that were lost. */
  readonly droppedSpans?: (spans: number) => void;
  /** Gets bugs of Vidro with their stacks. */
  readonly report?: (traceId: string, thrown: unknown) => void;
}

/** Opens the store, the hands and the models, and returns what is needed to start, resume and follow runs. */
export async function openBrain(options: BrainOptions): Promise<Brain> {
  const { home, config, log = () => undefined, report = () => undefined } = options;
  const { journal: opened, ...state } = await openStoreAndBus(options, log);
  const { records, spending, incarnation, bus } = state;
  const traces = await openTracer(options);
  const observed = withStreams(observeWith(options, records, traces?.journal(opened) ?? opened), bus);
  const delegate: HelperRuns["delegate"] = (what) => helpers.delegate(what);
  const keptTools = new KeptTools(records);
  const failed = (thrown: unknown): void => report("kept-tools", thrown);
  const kept = keptToolJournal(observed.journal, { kept: keptTools, records, failed });
  const { journal, knowledge, documents, equip } = openKnowledge(options, kept, delegate);
  const reloadables = new Set<Reloadable>();
  const local = openLocalHands(options, reloadables, traces?.add);
  const model = openModels(config);
  const own = { keptTools, ...(local === undefined ? {} : { local }) };
  const hands = new HandRegister({ records, log, now: Date.now, floor: incarnation.floor, equip, ...own });
  await hands.load();
  const endRelay = await openRelay(bus, { records, hands, report: (thrown) => report("relay", thrown) });
  const requests = options.config.get("store") === undefined ? undefined : new RunRequests(records, Date.now);
  const redactor = homeRedactor(home, config.secrets(), () => keySourceOf(config)?.keys ?? NO_KEYS);
  const hand = ({ hand: ids = LOCAL_HAND, workspace }: { readonly hand?: string; readonly workspace: string }) =>
    hands.at(ids, workspace);
  const runs = new Runs({
    journal,
    keptTools,
    ...(requests === undefined ? {} : { pass: (request) => requests.pass(request) }),
    model,
    hand,
    live: observed.live,
    redactor,
    generation: incarnation.generation,
    sharedCosts: sharedCostsIn(spending, costBounds(config), Date.now),
    language: taskLanguage,
    holder: thisHolder(),
    isRevoked: (token) => isTokenRevoked(records, token),
    ...CHANCE,
    ...(traces === undefined ? { report } : { report, traces }),
  });
  const helpers = new HelperRuns({ runs, journal, agent: openAgentFinder(home, records), traces });
  requests?.serve(runs.serveRequest);
  return {
    ...state,
    runs,
    wholeOutput: wholeOutputs({ journal, hand, redactor }),
    journal,
    model,
    hand: (workspace) => hands.at(LOCAL_HAND, workspace),
    hands,
    ...own,
    reloadables,
    knowledge,
    documents,
    async close() {
      await requests?.close();
      await runs.close();
      endRelay?.();
      for (const part of [hands, local, journal, knowledge, documents, bus, traces]) await part?.close();
    },
  };
}

/** Finds agents by name or uuid, those that were just made included. */
function openAgentFinder(home: string, records: Records): AgentFinder {
  return (name) => openAgentCatalog(home, records).find(name);
}

const NO_KEYS: readonly string[] = [];

function costBounds(config: Config): CostBounds {
  const [threadUsd, dayUsd] = [config.get("max_thread_cost"), config.get("max_day_cost")];
  return { ...(threadUsd === undefined ? {} : { threadUsd }), ...(dayUsd === undefined ? {} : { dayUsd }) };
}

/** The hand of this machine for each workspace, unless it is left out. */
function openLocalHands(
  { home, config: { env }, localHand, editor, log = () => undefined }: BrainOptions,
  reloadables: Set<Reloadable>,
  span: LocalOptions["span"],
): LocalHands | undefined {
  if (localHand === false) return undefined;
  const shared = { home, env, reloadables, log, span };
  return new LocalHands((workspace) => openLocalHand({ ...shared, workspace, editor: editor?.(workspace) }));
}

/** What differs each time: the clock, chance, and ids of runs, threads and actions. */
const CHANCE = {
  now: Date.now,
  chance: Math.random,
  newId: (prefix: "run" | "thread") => `${prefix}_${randomUUIDv7()}`,
  newActionId: () => `act_${randomUUIDv7()}`,
};

/** Models by name; each is opened at its first use. */
function openModels(config: Config): (name?: string) => Promise<ChosenModel> {
  const models = rememberOpened((name: string) => chooseModel(config, name));
  return async (name = "") =>
    name.startsWith(BOOTSTRAP) ? bootstrapModel(await models(name.slice(BOOTSTRAP.length))) : models(name);
}

/** A journal and live events; with a bus, what happens in runs is streamed there, too. */
function withStreams(journal: Journal, bus: Bus | undefined): { readonly journal: Journal; readonly live: LiveBus } {
  const live = liveBus(bus);
  if (bus === undefined) return { journal, live };
  const streams = new TaskStreams(bus);
  return { journal: streams.journal(journal), live: streams.live(live) };
}

function observeWith({ observe }: BrainOptions, records: Records, journal: Journal): Journal {
  return observe?.(journal, records) ?? journal;
}

/** Traces of runs; a brain without a receiver for them loads nothing of it. */
async function openTracer({ config: { env }, droppedSpans: dropped = () => undefined }: BrainOptions) {
  if (!TRACE_VARIABLES.some((name) => (env[name] ?? "") !== "")) return undefined;
  const { RunTracer } = await import("./observe/trace/run-tracer.ts");
  return RunTracer.open({ env, version: manifest.version, dropped });
}

/** The variables of OpenTelemetry that name a receiver. */
const TRACE_VARIABLES = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/** Relays hands between brains that share a bus; a brain without one loads nothing of it. */
async function openRelay(bus: RelayOptions["bus"] | undefined, options: Omit<RelayOptions, "bus">) {
  if (bus === undefined) return undefined;
  const { relayHands } = await import("./south/relay.ts");
  return relayHands({ bus, ...options });
}

/** The knowledge base, the journal that fills it, and how a hand gets the tools of the brain. */
function openKnowledge(options: BrainOptions, inner: Journal, delegate: HelperRuns["delegate"]) {
  const { home, config, report } = options;
  const knowledge = placeKnowledge(options);
  const journal = knowledgeJournal(inner, knowledge, (thrown) => report?.("knowledge", thrown));
  const search = chooseSearch(config);
  const folders = config.get("documents") ?? [];
  const index = options.store === "memory" ? ":memory:" : join(home, "documents.db");
  const documents = new Documents(index, folders, localDocuments(home));
  const tools = [researchTool(knowledge, documents, search), searchWebTool(search), delegateTool(delegate)];
  // Read for each run, so that a skill that was just written is there.
  const skills = () => skillTools({ skills: readSkills(join(home, "skills")), files: skillFiles, read: readSkillFile });
  const ownerOf = async (run: string): Promise<string | undefined> => (await inner.head(run))?.owner;
  const equip = (hand: Hand): Hand => equippedHand(hand, [...tools, ...skills()], ownerOf);
  return { knowledge, documents, journal, equip };
}

/** The knowledge base: in the store that brains share, if one is set, otherwise in the home. */
function placeKnowledge({ home, config, store }: Pick<BrainOptions, "home" | "config" | "store">): Knowledge {
  if (store === "memory") return sqliteKnowledge(":memory:");
  const address = config.get("store");
  return address === undefined
    ? sqliteKnowledge(join(home, "knowledge.db"))
    : lateKnowledge(async () => (await import("./knowledge/postgres-knowledge.ts")).postgresKnowledge(address));
}

/** Opens the store, and the bus if one is set; BAD_REQUEST for a bus without a store that brains could share. */
async function openStoreAndBus(options: BrainOptions, log: Log): Promise<Store & { readonly bus?: Bus }> {
  const { config } = options;
  const address = config.get("bus");
  if (address === undefined) return openConfiguredStore(options, log);
  if (config.get("store") === undefined)
    throw new Fault("BAD_REQUEST", "A bus is for brains that share a store: set store, too (--store postgres://…).");
  const bus = await openBus(address);
  try {
    return { ...(await openConfiguredStore({ ...options, bus }, log)), bus };
  } catch (thrown) {
    await bus.close();
    throw thrown;
  }
}

/** Opens the configured store with the mirror of its revocations; without one, that of the home with its seals. */
async function openConfiguredStore(
  { home, config, store: name = "sqlite", restored = false, bus }: BrainOptions & { readonly bus?: Bus },
  log: Log,
): Promise<Store> {
  await makeHome(home);
  if (name === "memory") return openStore(name, "", { restored });
  const address = config.get("store");
  if (address !== undefined) {
    const store = await openStore(storeNamed(address), address, { restored, ...(bus === undefined ? {} : { bus }) });
    return { ...store, records: await mirrorRevocations(store.records, join(home, "store-revoked"), log) };
  }
  const key = await sealKey(join(home, "audit-key"));
  const store = await openStore(name, join(home, "journal.db"), { restored, sealKey: key });
  return { ...store, records: await mirrorRevocations(store.records, join(home, "journal.db-revoked"), log) };
}

/**
 * Opens each value once and caches the most recently used ones; a failure is not cached, so the next use tries again.
 */
function rememberOpened<Value>(open: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const opened = new Map<string, Promise<Value>>();
  return (key) => {
    const known = opened.get(key) ?? Promise.try(open, key);
    opened.delete(key);
    opened.set(key, known);
    const [oldest] = opened.size > MODEL_LIMITS.kept ? opened.keys() : [];
    if (oldest !== undefined) opened.delete(oldest);
    known.catch(() => opened.get(key) === known && opened.delete(key));
    return known;
  };
}

/** The language of a task, judged by its beginning. */
export async function taskLanguage(task: string): Promise<Language> {
  const { languageOf } = await import("./models/offline/language.ts");
  return languageOf(task.slice(0, OFFLINE_LIMITS.taskChars), "en");
}
