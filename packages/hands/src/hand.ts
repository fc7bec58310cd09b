import { hash as hashOf } from "node:crypto";
import { join } from "node:path";
import {
  asFault,
  canonicalJson,
  Fault,
  HAND_LIMITS,
  LiveQueue,
  outcomeText,
  type Action,
  type ActionEnd,
  type FaultReport,
  type Hand,
  type HandEvent,
  type JsonObject,
  type Judgement,
  type Order,
  type SpoolPart,
  type Surroundings,
  type ToolSpec,
} from "@vidro/core";
import { decideOnPlan, ruleForPlan } from "./policy/plan-verdict.ts";
import {
  pinnedPlan,
  requireApproval,
  otherOrdererEnd,
  busyFault,
  failedEnd,
  recordedEnd,
  reusedIdFault,
} from "./policy/approval-check.ts";
import { BackgroundProcesses } from "./background/background-processes.ts";
import { checkArguments } from "./tools/check-arguments.ts";
import { processEnvironment } from "./config.ts";
import { buildEnvironment } from "./exec/environment.ts";
import { holdFolder } from "./files/held-folder.ts";
import { makeOwnFolder } from "./files/own-files.ts";
import { resolveFolder, resolveWorkspace } from "./files/resolve-folder.ts";
import { isAlive, thisProcess } from "./host/process-identity.ts";
import { readSurroundings } from "./host/surroundings.ts";
import { runWithDeadline } from "./exec/deadline.ts";
import { fenceOf, openLedger, type LedgerEntry, type Ledger, type ActionStart } from "./ledger.ts";
import { findOwnFolders } from "./policy/own-state.ts";
import { killLeftovers, killStragglers } from "./exec/orphans.ts";
import { endWaitingCells, findHostSandbox } from "./exec/sandbox.ts";
import { pruneSpools, readSpool, readSpoolPart, spoolFile } from "./exec/spool.ts";
import type { LocalHandOptions, ProbePoint } from "./hand-options.ts";
import { specOf, type HandContext, type HandTool, type ToolExecution } from "./tools/tool.ts";
import { planConfinement, warmSandbox } from "./tools/run-held.ts";
import { TOOLS } from "./tools/tools.ts";

/**
 * A hand that executes on this machine. Rejects with STORE_NEWER, LEDGER_UNWRITABLE or LEDGER_DAMAGED when its ledger
 * cannot be used, with NOT_FOUND when there is no workspace.
 */
export async function localHand(options: LocalHandOptions): Promise<Hand> {
  const workspace = resolveWorkspace(options.workspace);
  const state = makeFolder(options.state);
  const spools = makeFolder(join(state, "spool"));
  const own = holdFolder(options.reserved === undefined ? state : resolveFolder(options.reserved, process.cwd()));
  const env = buildEnvironment(options.env ?? processEnvironment(), workspace);
  const { policy } = options;
  const context: HandContext = {
    workspace,
    get state() {
      return own.path;
    },
    reserved: () => findOwnFolders(own.path),
    sandbox: () => findHostSandbox(policy.secrets),
    secrets: () => policy.secrets,
    background: new BackgroundProcesses(() => own.path),
    env,
    memoryBytes: () => policy.memoryBytes ?? HAND_LIMITS.treeBytes,
    privateHosts: () => policy.privateHosts ?? [],
    judge: (plan) => policy.judge(plan),
    editor: options.editor,
  };
  const ledger = openLedger(join(state, "ledger.db"));
  killLeftovers(own.path);
  pruneSpools(spools, Date.now());
  return new LocalHand(options, context, { ledger, spools });
}

function makeFolder(path: string): string {
  try {
    return makeOwnFolder(path);
  } catch (cause) {
    throw new Fault("LEDGER_UNWRITABLE", `The folder ${path} cannot be made: ${asFault(cause).message}.`, { cause });
  }
}

/** An action that is being carried out; a repeated order waits for the same end. */
interface RunningAction {
  readonly payload: string;
  readonly by: string | undefined;
  readonly abort: AbortController;
  readonly listeners: Set<LiveQueue>;
  readonly ended: Promise<ActionEnd>;
}

/** An order, with the time at which it was received. */
interface ReceivedOrder {
  readonly order: Order;
  /** Hash of tool and input. */
  readonly payload: string;
  readonly receivedAt: number;
}

/** An order that passed all checks and may begin. */
interface AdmittedOrder {
  readonly tool: HandTool;
  readonly judgement: Judgement;
  readonly start: ActionStart;
}

/** Abort signal and output sink shared by everyone waiting for one action. */
type ActionChannel = Pick<ToolExecution, "signal" | "output">;

class LocalHand implements Hand {
  readonly id: string;
  readonly workspace: string;
  readonly tools: readonly ToolSpec[];
  readonly receiptKey?: string;
  readonly #options: LocalHandOptions;
  readonly #context: HandContext;
  readonly #ledger: Ledger;
  readonly #spools: string;
  readonly #tools: ReadonlyMap<string, HandTool>;
  readonly #running = new Map<string, RunningAction>();

  constructor(
    options: LocalHandOptions,
    context: HandContext,
    kept: { readonly ledger: Ledger; readonly spools: string },
  ) {
    const tools = options.tools ?? TOOLS;
    this.id = options.id;
    this.workspace = context.workspace;
    this.tools = tools.map(specOf);
    if (options.receipts !== undefined) this.receiptKey = options.receipts.key;
    this.#options = options;
    this.#context = context;
    this.#ledger = kept.ledger;
    this.#spools = kept.spools;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  surroundings(): Promise<Surroundings> {
    return readSurroundings(this.#context, this.#spools).catch(() => ({}));
  }

  async judge(action: Action): Promise<Judgement | FaultReport> {
    try {
      const judged = await this.#judgeInput(action, await this.#toolFor(action));
      const always = await ruleForPlan(judged, this.#options.additions, this.#context);
      // As it is written in a file.
      const offered = always === undefined ? {} : { always: JSON.parse(JSON.stringify(always)) as JsonObject };
      return { ...judged, ledger: this.#ledger.mark, ...offered };
    } catch (thrown) {
      return asFault(thrown, "TOOL_FAILED").report();
    }
  }

  async *perform(order: Order, signal: AbortSignal): AsyncIterable<HandEvent> {
    const live = new LiveQueue();
    const ended = this.#join(order, signal, live).catch((thrown: unknown) => failedEnd(asFault(thrown)));
    void ended.then(() => live.end());
    yield* live;
    yield await ended;
  }

  async allowAlways(action: Action, approved: string): Promise<string | FaultReport> {
    try {
      const { additions } = this.#options;
      const judged = await this.#judgeInput(action, await this.#toolFor(action));
      if (judged.hash !== approved) throw new Fault("PLAN_CHANGED");
      const rule = await ruleForPlan(judged, additions, this.#context);
      if (rule === undefined) throw new Fault("POLICY_DENIED", "No rule about this plan can be added to the policy.");
      additions?.add(rule);
      return rule.id;
    } catch (thrown) {
      return asFault(thrown).report();
    }
  }

  async readSpool({ id }: Action, from: number): Promise<SpoolPart | FaultReport> {
    try {
      const known = this.#ledger.find(id);
      const isOurs = known?.state === "finished" && known.by === undefined;
      return readSpoolPart(isOurs ? spoolFile(this.#spools, id) : "", from);
    } catch (thrown) {
      return asFault(thrown).report();
    }
  }

  async acknowledge(action: string, by?: string): Promise<void> {
    this.#ledger.acknowledge(action, by);
  }

  isKeeping(): boolean {
    return this.#context.background.isKeeping;
  }

  async close(): Promise<void> {
    for (const { abort } of this.#running.values()) abort.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await this.#context.background.close();
    endWaitingCells(this.#context.state);
    killStragglers();
    this.#ledger.close();
  }

  /** Carries the order out, or waits for the end of the same action if it is running already. */
  async #join(order: Order, signal: AbortSignal, live: LiveQueue): Promise<ActionEnd> {
    const receivedAt = performance.now();
    const { id, tool, input } = order.action;
    const payload = hashOf("sha256", canonicalJson({ tool, input }));
    const underway = this.#running.get(id) ?? this.#begin({ order, payload, receivedAt });
    if (underway.by !== order.by) return otherOrdererEnd();
    if (underway.payload !== payload) throw reusedIdFault(id);
    const abort = (): void => underway.abort.abort();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    underway.listeners.add(live);
    try {
      return await underway.ended;
    } finally {
      signal.removeEventListener("abort", abort);
      underway.listeners.delete(live);
    }
  }

  #begin(job: ReceivedOrder): RunningAction {
    const { id } = job.order.action;
    const abort = new AbortController();
    const listeners = new Set<LiveQueue>();
    const output = (stream: "stdout" | "stderr", chunk: string): void => {
      for (const listener of listeners) listener.put({ type: "output", stream, chunk });
    };
    const ended = this.#carryOut(job, { signal: abort.signal, output })
      .catch((thrown: unknown) => failedEnd(asFault(thrown)))
      .finally(() => this.#running.delete(id));
    const underway = { payload: job.payload, by: job.order.by, abort, listeners, ended };
    this.#running.set(id, underway);
    return underway;
  }

  /**
   * Answers from the ledger if the action is known; else admits it, records the start, runs it and records the end. The
   * ledger comes first because today's tools and policy say nothing about what was done under the same id before.
   */
  async #carryOut(job: ReceivedOrder, tie: ActionChannel): Promise<ActionEnd> {
    const { id } = job.order.action;
    const known = this.#ledger.find(id);
    const settled = known === undefined ? this.#endIfLedgerReplaced(job) : this.#endFromLedger(known, job);
    if (settled !== undefined) return settled;
    let admitted: AdmittedOrder;
    try {
      admitted = await this.#admit(job, tie.signal);
    } catch (thrown) {
      if (known === undefined) return { ...failedEnd(asFault(thrown)), settled: true };
      throw thrown;
    }
    const { judgement, start } = admitted;
    if (!this.#ledger.start(start, known?.state === "started" ? known.holder : undefined)) throw busyFault(id);
    await this.#probe("after-started", id);
    const ended = await this.#run(job.order, admitted, tie);
    await this.#probe("before-finished", id);
    const recorded = this.#record(job.order, ended, judgement.hash);
    await this.#probe("after-finished", id);
    return recorded;
  }

  /** Checks tool, time, epoch and policy of an order; throws the fault that refuses it. */
  async #admit(job: ReceivedOrder, signal: AbortSignal): Promise<AdmittedOrder> {
    const { action } = job.order;
    const tool = await this.#toolFor(action);
    this.#checkTime(job, signal);
    this.#checkEpoch(job.order);
    const judgement = await this.#judgeInput(action, tool);
    requireApproval(judgement, job.order);
    await this.#probe("before-started", action.id);
    this.#checkTime(job, signal);
    return { tool, judgement, start: startOf(job) };
  }

  /** The end of an action that is in the ledger; undefined when the action may begin again. */
  #endFromLedger(known: LedgerEntry, { order, payload }: ReceivedOrder): ActionEnd | undefined {
    const { id, tool } = order.action;
    if (known.state === "evicted") return { type: "unknown", fault: new Fault("OUTCOME_EVICTED").report() };
    if (known.by !== order.by) return otherOrdererEnd();
    if (known.payload !== payload) throw reusedIdFault(id);
    if (known.state === "finished") return recordedEnd(known.ended);
    const here = thisProcess();
    const isOurs = known.holder.pid === here.pid && known.holder.started === here.started;
    if (!isOurs && isAlive(known.holder)) throw busyFault(id);
    if (this.#tools.get(tool)?.idempotent === true) return undefined;
    const partial = readSpool(spoolFile(this.#spools, id));
    const fault = new Fault(
      "OUTCOME_UNKNOWN",
      "The hand was stopped while this action ran; it may have had its effect.",
    );
    const ended = { type: "unknown", fault: fault.report(), ...(partial === undefined ? {} : { partial }) } as const;
    return this.#record(order, ended);
  }

  /** An unknown end if the action may have begun under another ledger; undefined if this ledger would know of it. */
  #endIfLedgerReplaced(job: ReceivedOrder): ActionEnd | undefined {
    const { action, ledger } = job.order;
    if (ledger === undefined || this.#ledger.knows(ledger)) return undefined;
    if (this.#tools.get(action.tool)?.idempotent === true) return undefined;
    const message =
      "The hand's ledger is not the one that judged this action: it was deleted, copied or rolled back since. " +
      "The action may have had its effect.";
    const ended = { type: "unknown", fault: new Fault("OUTCOME_UNKNOWN", message).report() } as const;
    return this.#ledger.start(startOf(job)) ? this.#record(job.order, ended) : ended;
  }

  async #run(order: Order, { tool, judgement }: AdmittedOrder, { signal, output }: ActionChannel): Promise<ActionEnd> {
    const { plan } = judgement;
    const { run, by, action } = order;
    const { id, input } = action;
    const who = { action: id, run, ...(by === undefined ? {} : { by }) };
    const execution = { plan, context: this.#context, ...who, spool: spoolFile(this.#spools, id), output };
    const overdueMs = this.#options.overdueMs ?? HAND_LIMITS.overdueMs;
    try {
      const running = { tool, plan, signal, overdueMs };
      const ended = await runWithDeadline((either) => tool.run(input, { ...execution, signal: either }), running);
      const outcome = ended.type === "finished" ? ended.outcome : undefined;
      if (outcome?.kind === "process" && outcome.spool !== undefined) pruneSpools(this.#spools, Date.now());
      return ended;
    } catch (thrown) {
      const fault = asFault(thrown, "TOOL_FAILED");
      if (fault.code === "OUTCOME_UNKNOWN" && !tool.idempotent) return { type: "unknown", fault: fault.report() };
      return { ...failedEnd(fault), settled: true };
    }
  }

  /** Writes an end to the ledger; if that fails, the end is reported as unknown, with the output that there was. */
  #record({ run, action: { id } }: Order, ended: ActionEnd, plan = ""): ActionEnd {
    const of = { run, action: id, plan, at: Date.now(), ledger: this.#ledger.mark };
    const receipt = this.#options.receipts?.sign(of, ended);
    const kept = receipt === undefined ? ended : { ...ended, receipt };
    try {
      this.#ledger.finish(id, kept);
      return kept;
    } catch (thrown) {
      const fault = new Fault(
        "OUTCOME_UNKNOWN",
        `It ran, but its outcome could not be kept: ${asFault(thrown).message}`,
      );
      const partial = ended.type === "finished" ? outcomeText(ended.outcome) : ended.fault.message;
      return { type: "unknown", fault: fault.report(), partial };
    }
  }

  /** The tool of an action, after its input was checked. */
  async #toolFor(action: Action): Promise<HandTool> {
    const tool = this.#tools.get(action.tool);
    if (tool === undefined) {
      const names = [...this.#tools.keys()].join(", ");
      throw new Fault("UNKNOWN_TOOL", `This hand has no tool "${action.tool}"; it has ${names}.`);
    }
    await checkArguments(tool, action.input);
    return tool;
  }

  async #judgeInput(action: Action, tool: HandTool): Promise<Judgement> {
    const { policy } = this.#options;
    const planned = await tool.plan(action.input, this.#context);
    // Read in the same turn of the event loop as the verdict, because a reload in between would change the version.
    const { version } = policy;
    const { plan, verdict } = await decideOnPlan(planned, this.#context);
    const confined = verdict.decision === "allow" ? planConfinement(plan) : undefined;
    // The order to run it follows, or has come: the sandbox is set up while intent and start are recorded.
    if (confined !== undefined) void warmSandbox(confined, this.#context);
    const hash = hashOf("sha256", canonicalJson({ plan: pinnedPlan(plan), policy: version }));
    return { plan, hash, verdict, policy: version };
  }

  #checkTime({ order, receivedAt }: ReceivedOrder, signal: AbortSignal): void {
    if (signal.aborted) throw new Fault("ACTION_EXPIRED", "The action was aborted before it began; nothing was run.");
    if (performance.now() - receivedAt >= order.ttlMs) throw new Fault("ACTION_EXPIRED");
  }

  /** Epochs count per orderer; those recorded before orderers were recorded count for all. */
  #checkEpoch({ run, epoch, by }: Order): void {
    const highest = Math.max(this.#ledger.epoch(fenceOf(run, by)), by === undefined ? 0 : this.#ledger.epoch(run));
    if (epoch < highest) throw new Fault("STALE_EPOCH");
  }

  async #probe(point: ProbePoint, action: string): Promise<void> {
    await this.#options.probe?.(point, action);
  }
}

function startOf({ order: { action, run, epoch, by }, payload }: ReceivedOrder): ActionStart {
  const start = { id: action.id, payload, tool: action.tool, run: fenceOf(run, by), epoch, holder: thisProcess() };
  return { ...start, ...(by === undefined ? {} : { by }) };
}
