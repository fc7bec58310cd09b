import { asFault, DELEGATE, Fault, FOLLOW_LIMITS, HELPER_LIMITS, helperThread, RUN_LIMITS } from "@vidro/core";
import type { Budget, Delegation, Entry, HelperEnd, HelperTask, Journal, ParentLink, TerminalEvent } from "@vidro/core";
import { reduce } from "@vidro/core/run";
import type { RunState } from "@vidro/core/run";
import { oneLine } from "@vidro/core/text";
import type { AgentProfile } from "../catalog/agent.ts";
import { isOpen } from "../stores/run-rules.ts";
import { isTransient } from "../stores/transient-faults.ts";
import type { RunTraces } from "./run-dependencies.ts";
import type { Runs, StartRequest } from "./runs.ts";

/** Finds the agent of a name; NOT_FOUND when there is none. */
export type AgentFinder = (name: string) => Promise<AgentProfile>;

/** Dependencies of HelperRuns. */
interface HelperDependencies {
  readonly runs: Pick<Runs, "start" | "resume" | "abort">;
  readonly journal: Pick<Journal, "head" | "read" | "watch">;
  readonly agent: AgentFinder;
  readonly traces?: RunTraces | undefined;
}

type Helper = Delegation["helpers"][number];

/** The run that delegates, as far as its helpers depend on it. */
interface Parent {
  readonly owner: string;
  readonly state: RunState;
  readonly link: ParentLink;
}

const LINE_CHARS = 200;

/**
 * Carries out `delegate` actions. A helper's id follows from that of its action: one that exists is taken up, whichever
 * brain or process began it, and what is missing is started. Nothing is remembered beside the journals.
 */
export class HelperRuns {
  readonly #deps: HelperDependencies;

  constructor(deps: HelperDependencies) {
    this.#deps = deps;
  }

  /** Starts or takes up the helpers of an action and resolves when each has ended; HAND_UNAVAILABLE when the brain stops. */
  readonly delegate = async (delegation: Delegation): Promise<readonly HelperEnd[]> => {
    const { helpers, signal } = delegation;
    if (signal.aborted) return Promise.all(helpers.map((helper) => this.#stop(helper, delegation)));
    const parent = await this.#parent(delegation);
    return Promise.all(helpers.map((helper) => this.#carryOut(helper, delegation, parent)));
  };

  async #carryOut(helper: Helper, delegation: Delegation, parent: Parent): Promise<HelperEnd> {
    const { id } = helper;
    try {
      if ((await this.#deps.journal.head(id)) === undefined)
        await this.#start(helper, parent, delegation.helpers.length);
    } catch (thrown) {
      const fault = asFault(thrown);
      if (isTransient(fault)) throw new Fault("HAND_UNAVAILABLE", fault.message, { cause: thrown });
      return { run: id, status: "unstarted", fault: fault.report(), used: NOTHING };
    }
    const ended = await this.#untilEnded(id, delegation);
    return ended ?? this.#stop(helper, delegation);
  }

  async #start(helper: Helper, parent: Parent, count: number): Promise<void> {
    const { owner, state, link } = parent;
    const { started } = state;
    const { agent: name = started.agent, task } = helper;
    const agent: AgentProfile =
      name === started.agent ? { name, description: "", prompt: started.system } : await this.#deps.agent(name);
    const request: StartRequest = {
      task,
      owner,
      agent,
      workspace: started.workspace,
      hand: started.hand,
      thread: helperThread(link.run),
      history: [],
      tools: toolsOf(helper, agent, parent),
      budget: budgetOf(helper, state, count),
      helper: { id: helper.id, parent: link, ...this.#traceOf(parent) },
      ...(started.startedWith === undefined ? {} : { token: started.startedWith }),
      ...(started.interactive === true ? { interactive: true } : {}),
      ...(started.sampling?.reasoning === undefined ? {} : { sampling: { reasoning: started.sampling.reasoning } }),
      ...(agent.model === undefined ? { model: started.model } : {}),
    };
    await this.#deps.runs.start(request).catch(async (thrown: unknown) => {
      // Another process has started it meanwhile.
      if ((await this.#deps.journal.head(helper.id)) === undefined) throw thrown;
    });
  }

  /** Helpers are below the action in the trace of their parent. */
  #traceOf({ state, link }: Parent): { readonly trace?: string } {
    const { traces } = this.#deps;
    return traces === undefined ? {} : { trace: traces.traceparent(link.run, state.started, `action:${link.action}`) };
  }

  /** The end of a helper; undefined when the parent is aborted first. Every few seconds it is seen to that it is driven. */
  async #untilEnded(id: string, { signal, show }: Delegation): Promise<HelperEnd | undefined> {
    const { journal, runs } = this.#deps;
    let wake = Promise.withResolvers<void>();
    const stop = journal.watch(id, () => wake.resolve());
    const hear = (): void => wake.resolve();
    signal.addEventListener("abort", hear);
    let state: RunState | undefined;
    let driven = -Infinity;
    try {
      for (;;) {
        if (signal.aborted) {
          if (asFault(signal.reason).code !== "SHUTTING_DOWN") return undefined;
          throw new Fault("HAND_UNAVAILABLE", "The brain is stopping; the helpers go on with it later.");
        }
        const entries = await journal.read(id, state?.seq ?? 0, FOLLOW_LIMITS.batch).catch(noneIfTransient);
        for (const entry of entries) {
          state = reduce(state, entry);
          showEntry(id, entry, show);
        }
        if (state?.phase.name === "ended") return endOf(id, state, state.phase.end);
        if (entries.length > 0) continue;
        // Another brain may drive it, or its hand may be away: then this does nothing.
        if (performance.now() - driven >= RUN_LIMITS.sweepMs) {
          await runs.resume(id, { waitsForHand: true }).catch(() => undefined);
          driven = performance.now();
        }
        await within(wake.promise, RUN_LIMITS.sweepMs);
        wake = Promise.withResolvers();
      }
    } finally {
      stop();
      signal.removeEventListener("abort", hear);
    }
  }

  /** Ends a helper that there is, and gives its end; starts nothing. */
  async #stop({ id }: Helper, { run }: Delegation): Promise<HelperEnd> {
    const { journal, runs } = this.#deps;
    for (;;) {
      const head = await journal.head(id);
      if (head === undefined) return { run: id, status: "unstarted", used: NOTHING };
      if (!isOpen(head.status)) break;
      const aborted = runs.abort(id, `The run ${run} that it helps was stopped.`);
      await aborted.catch(() => within(Promise.withResolvers<void>().promise, RUN_LIMITS.haltMs));
    }
    const { state } = await this.#readRun(id, () => undefined);
    return state.phase.name === "ended"
      ? endOf(id, state, state.phase.end)
      : { run: id, status: "aborted", used: NOTHING };
  }

  /** The parent as its journal has it: who it belongs to, what it may use, and where its action began. */
  async #parent({ run, action, helpers }: Delegation): Promise<Parent> {
    let [seq, earlier] = [0, 0];
    const { state } = await this.#readRun(run, ({ seq: place, event }) => {
      if (event.type === "action.started" && event.action.id === action) seq = place;
      if (event.type === "policy.judged" && event.action !== action && event.plan.kind === "order")
        earlier += event.plan.runs?.length ?? 0;
    });
    const head = await this.#deps.journal.head(run);
    const depth = (state.started.parent?.depth ?? 0) + 1;
    if (depth > HELPER_LIMITS.depth)
      throw new Fault("TOOL_FAILED", `A helper ${HELPER_LIMITS.depth} runs deep has no helpers of its own.`);
    if (earlier + helpers.length > HELPER_LIMITS.perRun)
      throw new Fault("TOOL_FAILED", `A run has at most ${HELPER_LIMITS.perRun} helpers, and this one had ${earlier}.`);
    for (const { tools = [] } of helpers) {
      const missing = tools.find((name) => !inheritable(state, depth).includes(name));
      if (missing !== undefined)
        throw new Fault("BAD_ARGUMENTS", `delegate: ${JSON.stringify(missing)} is no tool that this run can pass on.`);
    }
    return { owner: head?.owner ?? "", state, link: { run, action, seq, depth } };
  }

  async #readRun(run: string, see: (entry: Entry) => void): Promise<{ readonly state: RunState }> {
    let state: RunState | undefined;
    for (;;) {
      const entries = await this.#deps.journal.read(run, state?.seq ?? 0, FOLLOW_LIMITS.batch);
      for (const entry of entries) {
        state = reduce(state, entry);
        see(entry);
      }
      if (entries.length < FOLLOW_LIMITS.batch) break;
    }
    if (state === undefined) throw new Fault("JOURNAL_CORRUPT", `Run ${run} has no entries.`);
    return { state };
  }
}

const NOTHING = { tokens: 0, costUsd: 0 } as const;

/** Names of the tools that a run can pass on: not those that only its client or its own conversation has. */
function inheritable({ tools }: RunState, depth: number): readonly string[] {
  return tools
    .filter(({ caller, argv }) => caller !== true && argv === undefined)
    .map(({ name }) => name)
    .filter((name) => name !== DELEGATE || depth < HELPER_LIMITS.depth);
}

function toolsOf({ tools }: HelperTask, agent: AgentProfile, parent: Parent): readonly string[] {
  const wanted = tools ?? agent.tools ?? undefined;
  return inheritable(parent.state, parent.link.depth).filter((name) => wanted === undefined || wanted.includes(name));
}

/** What a helper may use: its share of what is left of the parent's budget, or less where less is asked for. */
function budgetOf({ budget = {} }: HelperTask, { started, used }: RunState, count: number): Partial<Budget> {
  const { steps, actions, tokens, costUsd, wallMs, answerMs } = started.budget;
  const least = (asked: number | undefined, left: number): number => Math.max(1, Math.min(asked ?? left, left));
  return {
    steps: least(budget.steps, steps),
    actions: least(budget.actions, actions),
    tokens: least(budget.tokens, Math.floor((tokens - used.tokens) / count)),
    ...(costUsd === undefined ? {} : { costUsd: Math.max(Number.MIN_VALUE, (costUsd - used.costUsd) / count) }),
    wallMs: Math.max(1, wallMs - used.workMs),
    ...(answerMs === undefined ? {} : { answerMs }),
  };
}

function endOf(run: string, { used: { tokens, costUsd } }: RunState, end: TerminalEvent): HelperEnd {
  const used = { tokens, costUsd };
  if (end.type === "run.failed") return { run, status: "failed", fault: end.fault, used };
  if (end.type === "run.aborted") return { run, status: "aborted", used };
  return {
    run,
    status: "finished",
    result: end.result,
    ...(end.unmet === undefined ? {} : { unmet: end.unmet }),
    used,
  };
}

/** Tells of a helper beside its parent's action: what it does, what it waits for, how it ended. */
function showEntry(run: string, { event }: Entry, show: (line: string) => void): void {
  const tell = (words: string): void => show(`${run}: ${oneLine(words, LINE_CHARS)}`);
  if (event.type === "question.asked") tell(`waits for an answer: ${event.text}`);
  if (event.type === "action.started") tell(`${event.action.tool} ${JSON.stringify(event.action.input)}`);
  if (event.type === "run.finished") tell("finished");
  if (event.type === "run.failed") tell(`failed: ${event.fault.message}`);
  if (event.type === "run.aborted") tell("aborted");
}

function noneIfTransient(thrown: unknown): readonly Entry[] {
  if (!isTransient(thrown)) throw thrown;
  return [];
}

/** Resolves with the promise, or after a time. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([promise, late.promise]);
  clearTimeout(timer);
}
