import { isAnswered } from "./repeated-answer.ts";
import { contain } from "../observe/containment.ts";
import { RunLoop } from "./engine.ts";
import type { QuestionAnswer } from "./person-answer.ts";
import { followRunInBatches } from "./follow.ts";
import type { FollowItem, LoopEnd } from "./follow.ts";
import { lateHand, NO_MODEL } from "./late-ports.ts";
import { factsOfRun } from "./facts-of-run.ts";
import { openingEntries } from "./opening-entries.ts";
import { abortIfRevoked } from "./revoked-token.ts";
import { toolbelt } from "./toolbelt.ts";
import { runBudget, unpricedModel } from "./run-budget.ts";
import { generationOf, newRun, originOf } from "./run-origin.ts";
import { readState } from "./read-state.ts";
import { taskWithFiles } from "./task-files.ts";
import { withEarlier } from "./thread-history.ts";
import type { EarlierTurns } from "./thread-history.ts";
import { Fault, RUN_LIMITS } from "@vidro/core";
import { acceptRemark, DIRECT } from "@vidro/core/run";
import type { RunState } from "@vidro/core/run";
import type {
  Budget,
  Entry,
  Hand,
  Journal,
  Lease,
  LeaseHolder,
  Model,
  ParentLink,
  RemarkMade,
  RunHead,
  RunStarted,
  Sampling,
  ToolChoice,
  ToolSpec,
} from "@vidro/core";
import type { Language } from "@vidro/core/text";
import { BUNNY } from "../catalog/agent.ts";
import type { AgentProfile } from "../catalog/agent.ts";
import { isOpen } from "../stores/run-rules.ts";
import type { RunFilter } from "../stores/run-rules.ts";
import type { RunDependencies } from "./run-dependencies.ts";
import { orPassedOn } from "./run-requests.ts";
import type { PassRequest, RunRequest } from "./run-requests.ts";

/** The request that starts a run. */
export interface StartRequest extends RunTarget, EarlierTurns {
  readonly task: string;
  /** Owner of the run; the person at this machine when left out. */
  readonly owner?: string;
  readonly agent?: AgentProfile;
  /** Name of the model; the agent's when left out. */
  readonly model?: string;
  /** Names of the hand's tools that the run may use; the agent's when it is left out. */
  readonly tools?: readonly string[];
  /** Tools that only the caller can carry out: a call of one comes back as a question. */
  readonly callerTools?: readonly ToolSpec[];
  /** Idempotency key: a second start with the same key gives the first run. */
  readonly key?: string;
  /** What only one open run of the owner may have: a second start with the same gives that run. */
  readonly sole?: string;
  readonly budget?: Partial<Budget>;
  /** The tool that the model must call, or that it must call none. */
  readonly choice?: ToolChoice;
  /** Sampling parameters of the model. */
  readonly sampling?: Sampling;
  /** A person follows the run and can be asked when a healing is stuck. */
  readonly interactive?: boolean;
  /** Id of the token that starts the run: when it is revoked, the run is aborted. */
  readonly token?: string;
  /** The beginning of a forked run; it needs the history, too. */
  readonly fork?: Pick<RunStarted, "forked" | "facts" | "changed">;
  /** A helper: the id of its run, the action that it works for, and its place in a trace. */
  readonly helper?: { readonly id: string; readonly parent: ParentLink; readonly trace?: string };
}

/** The hand and the folder that a run works with. */
interface RunTarget {
  /** Ids of hands that the owner of the run may use, separated by commas; the local hand when left out. */
  readonly hand?: string;
  /** The folder that the local hand works in. */
  readonly workspace: string;
}

/** Dependencies of Runs; model and hand are looked up for each run. */
interface RunsDependencies extends Omit<RunDependencies, "model" | "hand"> {
  /** The model of that name, or the configured one. */
  readonly model: (name?: string) => Promise<Model>;
  readonly hand: (where: RunTarget) => Promise<Hand>;
  /** The language that a task is written in; English without it. */
  readonly language?: (task: string) => Promise<Language>;
  readonly holder: LeaseHolder;
  /** Passes a request to the brain that drives the run, where several share a store. */
  readonly pass?: PassRequest;
  readonly newId: (prefix: "run" | "thread") => string;
  /** Whether a token is revoked; without it tokens are not looked at. */
  readonly isRevoked?: (token: string) => Promise<boolean>;
}

/** A run that this process drives. */
interface ActiveRun {
  readonly drive: RunLoop;
  readonly done: Promise<void>;
  /** Aborted when `done` has settled; a signal, since a promise cannot drop the listeners of followers that left. */
  readonly left: AbortSignal;
}

/** Starts, follows, answers, resumes and aborts runs: all that a surface may ask for. */
export class Runs {
  readonly #deps: RunsDependencies;
  readonly #journal: Journal;
  readonly #drives = new Map<string, ActiveRun>();
  /** Runs that are being taken over: concurrent callers share one loop. */
  readonly #taking = new Map<string, Promise<ActiveRun>>();

  constructor(deps: RunsDependencies) {
    this.#deps = deps;
    this.#journal = deps.journal;
  }

  /** Starts a run, or finds the one that its key or its `sole` belongs to; resolves when `run.started` is durable. */
  async start(request: StartRequest): Promise<{ readonly run: RunHead; readonly existed: boolean }> {
    const { task, ...attached } = await taskWithFiles(request.task.trim(), request.files);
    if (task === "") throw new Fault("BAD_REQUEST", "A run needs a task: say what is to be done.");
    if (task.length > RUN_LIMITS.taskChars)
      throw new Fault("PAYLOAD_TOO_LARGE", `A task has at most ${RUN_LIMITS.taskChars} characters.`);
    const agent = request.agent ?? BUNNY;
    const [model, hand, language = "en"] = await Promise.all([
      this.#deps.model(request.model ?? agent.model),
      this.#deps.hand(request),
      // The task of a direct run is a command line.
      agent.model === DIRECT ? undefined : this.#deps.language?.(task),
    ]);
    const thread = request.thread ?? this.#deps.newId("thread");
    const budget = runBudget(request.budget);
    const shared = await this.#deps.sharedCosts?.({ thread, budget }, model);
    const isBounded = budget.costUsd !== undefined || (shared ?? []).length > 0;
    if (isBounded && model.isPriced !== true) throw unpricedModel(model.name);
    const started: RunStarted = {
      type: "run.started",
      task,
      ...attached,
      system: agent.prompt,
      agent: agent.name,
      model: model.name,
      hand: hand.id,
      workspace: hand.workspace,
      tools: await toolbelt(hand, { ...request, thread }, this.#deps.keptTools),
      budget,
      thread,
      history: request.history ?? [],
      ...(await factsOfRun(model, hand, this.#deps.now())),
      ...request.fork,
      ...(request.choice === undefined ? {} : { choice: request.choice }),
      ...(request.sampling === undefined ? {} : { sampling: request.sampling }),
      ...(request.interactive === true ? { interactive: true } : {}),
      ...originOf(request, this.#deps),
      ...(request.token === undefined ? {} : { startedWith: request.token }),
      ...(model.window === undefined ? {} : { window: model.window }),
      ...(model.summarises === true ? { summarises: true } : {}),
      ...generationOf(this.#deps),
      ...(language === "en" ? {} : { language }),
    };
    const id = request.helper?.id ?? this.#deps.newId("run");
    const { entries, state } = openingEntries(id, await withEarlier(this.#journal, started, request), {
      ...this.#deps,
      model,
      ...(shared === undefined ? {} : { shared }),
    });
    const { head, lease } = await this.#journal.create(newRun(id, thread, request), entries, this.#deps.holder);
    if (lease === undefined) return { run: head, existed: true };
    const loop = new RunLoop({ ...this.#deps, model, hand }, lease, state);
    await abortIfRevoked(loop, request.token, this.#deps.isRevoked);
    this.#drive(loop, head.id);
    return { run: head, existed: false };
  }

  /** Every entry after `after`, with live events between them; ends with the terminal entry. */
  async *follow(run: string, after = 0, signal?: AbortSignal): AsyncGenerator<FollowItem, void, undefined> {
    await this.find(run);
    for await (const batch of this.followInBatches(run, after, signal)) yield* batch;
  }

  /** The same in batches, one for each read; the caller has checked that the run exists. */
  followInBatches(
    run: string,
    after: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly FollowItem[], void, undefined> {
    const driven = this.#drives.get(run)?.left;
    return followRunInBatches({ journal: this.#journal, live: this.#deps.live, run, after, driven, signal });
  }

  /** How a run was started; the journal is read only when this process does not drive the run. */
  async readStart(run: string): Promise<RunStarted | undefined> {
    const driven = this.#drives.get(run);
    if (driven !== undefined) return driven.drive.state.started;
    const [first] = await this.read(run, 0, 1);
    return first?.event.type === "run.started" ? first.event : undefined;
  }

  /** At most `limit` entries after `after`; the caller has checked that the run exists. */
  read(run: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#journal.read(run, after, limit);
  }

  /**
   * Answers the open question of a run; resolves when the answer is durable. The same answer to the same question id
   * may come again: it resolves without effect.
   */
  async answer(run: string, answer: QuestionAnswer): Promise<void> {
    const { question } = answer;
    const answerHere = async (): Promise<void> => (await this.#driverOf(run)).drive.answer(answer);
    try {
      await orPassedOn(this.#deps.pass, answerHere, { kind: "answer", run, answer });
    } catch (thrown) {
      const isClosed = thrown instanceof Fault && thrown.code === "CONFLICT" && question !== undefined;
      if (!isClosed || !(await isAnswered(this.#journal, run, { ...answer, question }))) throw thrown;
    }
  }

  /**
   * Says something to a run at work; resolves when it is durable. The model is told with its next step, and nothing that
   * runs is cut off. The same remark under the same id may come again. CONFLICT when the run is over.
   */
  async say(run: string, remark: Omit<RemarkMade, "type">): Promise<void> {
    const text = remark.text.trim();
    if (text === "") throw new Fault("BAD_REQUEST", "There is nothing to say: the text is empty.");
    if (text.length > RUN_LIMITS.remarkChars)
      throw new Fault("PAYLOAD_TOO_LARGE", `A message to a run has at most ${RUN_LIMITS.remarkChars} characters.`);
    const head = await this.find(run);
    const said = { ...remark, text };
    const sayHere = async (): Promise<void> => (await this.#driverOf(run)).drive.say(said);
    try {
      if (!isOpen(head.status)) acceptRemark(await readState(this.#journal, run), said);
      else await orPassedOn(this.#deps.pass, sayHere, { kind: "say", run, remark: said });
    } catch (thrown) {
      const { status, thread } = await this.find(run);
      if (!(thrown instanceof Fault && thrown.code === "CONFLICT") || isOpen(status)) throw thrown;
      throw new Fault("CONFLICT", `Run ${run} is ${status}. ${goOnIn(thread)}`, { cause: thrown });
    }
  }

  /**
   * Aborts a run and its effect; resolves when the run is over. COMMIT_UNKNOWN when the store does not record that in
   * time: the run ends as soon as it does [G13].
   */
  async abort(run: string, reason: string): Promise<void> {
    const head = await this.find(run);
    if (!isOpen(head.status)) throw new Fault("CONFLICT", `Run ${run} is over: it is ${head.status}.`);
    await orPassedOn(
      this.#deps.pass,
      async () => {
        const driven = this.#drives.get(run) ?? (await this.#taking.get(run)) ?? (await this.#takeToEnd(run, reason));
        driven.drive.abort(reason);
        await untilEnded(driven, run);
      },
      { kind: "abort", run, reason },
    );
  }

  /** Carries out requests that other brains pass on; undefined for a run that this one does not drive. */
  readonly serveRequest = (request: RunRequest): Promise<void> | undefined => {
    if (!this.#drives.has(request.run)) return undefined;
    if (request.kind === "say") return this.say(request.run, request.remark);
    if (request.kind === "answer") return this.answer(request.run, request.answer);
    return this.abort(request.run, request.reason);
  };

  /**
   * Takes a run over only to abort it: neither its model nor its hand has to be reachable. An action that an earlier
   * loop started is stopped at the hand, or once the hand is back.
   */
  async #takeToEnd(run: string, reason: string): Promise<ActiveRun> {
    const lease = await this.#journal.lease(run, this.#deps.holder);
    try {
      return await this.#end(lease, await readState(this.#journal, run), reason);
    } catch (thrown) {
      await this.#journal.release(lease);
      throw thrown;
    }
  }

  async #end(lease: Lease, state: RunState, reason: string): Promise<ActiveRun> {
    const hand = await this.#hand(state.started);
    const drive = new RunLoop({ ...this.#deps, model: NO_MODEL, hand }, lease, state);
    // Before the loop runs, so that it starts nothing.
    drive.abort(reason);
    return this.#drive(drive, lease.run);
  }

  async #isOpen(run: string): Promise<boolean> {
    const head = await this.#journal.head(run);
    return head !== undefined && isOpen(head.status);
  }

  /** Head of a run; NOT_FOUND when there is none, or when `owner` is given and is another one. */
  async find(run: string, owner?: string): Promise<RunHead> {
    const head = await this.#journal.head(run);
    if (head === undefined || (owner !== undefined && head.owner !== owner))
      throw new Fault("NOT_FOUND", `There is no run ${run}.`);
    return head;
  }

  /** Whether a run was started with this task; a run has its task without secrets. */
  hasTask({ task }: Pick<RunHead, "task">, asked: string): boolean {
    return task === this.#deps.redactor.text(asked.trim());
  }

  /** Runs, newest first, starting behind the run `after`. */
  list(filter: RunFilter): Promise<readonly RunHead[]> {
    return this.#journal.list(filter);
  }

  /**
   * Resumes a run that no process drives; does nothing when this process drives it or it is over. Rejects when its hand
   * cannot be opened, unless `waitsForHand` is set.
   */
  async resume(run: string, { waitsForHand = false }: { readonly waitsForHand?: boolean } = {}): Promise<void> {
    if (isOpen((await this.find(run)).status)) await this.#driverOf(run, waitsForHand);
  }

  /** Open runs that neither this process nor any other drives, oldest first. */
  async undriven(): Promise<readonly string[]> {
    const runs = await this.#journal.undriven(RUN_LIMITS.recovered);
    return runs.filter((run) => !this.#drives.has(run));
  }

  /** Stops driving; open runs stay open and go on from the journal later. */
  async close(): Promise<void> {
    const driven = [...this.#drives.values()];
    for (const { drive } of driven) drive.stop();
    await Promise.allSettled(driven.map(({ done }) => done));
  }

  async #driverOf(run: string, waitsForHand = true): Promise<ActiveRun> {
    const known = this.#drives.get(run) ?? this.#taking.get(run);
    if (known !== undefined) return known;
    const taking = this.#takeOver(run, waitsForHand).finally(() => this.#taking.delete(run));
    this.#taking.set(run, taking);
    return taking;
  }

  async #takeOver(run: string, waitsForHand: boolean): Promise<ActiveRun> {
    const lease = await this.#journal.lease(run, this.#deps.holder);
    try {
      const state = await readState(this.#journal, run);
      const { parent } = state.started;
      if (parent !== undefined && !(await this.#isOpen(parent.run))) return await this.#end(lease, state, PARENT_OVER);
      const [model, hand] = await Promise.all([
        // The model that started the run, if it is still available; otherwise the configured one.
        this.#deps.model(state.started.model).catch(() => this.#deps.model()),
        waitsForHand ? this.#hand(state.started) : this.#deps.hand(state.started),
      ]);
      return this.#drive(new RunLoop({ ...this.#deps, model, hand }, lease, state), run);
    } catch (thrown) {
      await this.#journal.release(lease);
      throw thrown;
    }
  }

  /** The hand that started the run, or a stand-in for it while it cannot be opened. */
  #hand(started: RunStarted): Promise<Hand> {
    const open = (): Promise<Hand> => this.#deps.hand(started);
    return open().catch(() => lateHand(started, open));
  }

  #drive(drive: RunLoop, run: string): ActiveRun {
    const contained = { fields: { run_id: run }, end: (fault: Fault) => drive.fail(fault) };
    const done = contain(contained, () => drive.run()).finally(() => this.#drives.delete(run));
    const left = new AbortController();
    const leave = (how: LoopEnd): void => left.abort(how);
    done.then(
      () => leave({}),
      (fault: unknown) => leave({ fault }),
    );
    const driven = { drive, done, left: left.signal };
    this.#drives.set(run, driven);
    return driven;
  }
}

/** Why a helper ends that is taken up after its parent. */
const PARENT_OVER = "The run that it helps is over.";

/** Resolves when an aborted run is over; rejects after `abortMs` if the store still refuses the terminal entry. */
async function untilEnded({ drive, done }: ActiveRun, run: string): Promise<void> {
  const late = Promise.withResolvers<never>();
  const look = setInterval(() => {
    const { storeFault } = drive;
    const message = `Run ${run} is told to end, and the store has not recorded that yet: ${storeFault?.message}`;
    if (storeFault !== undefined) late.reject(new Fault("COMMIT_UNKNOWN", message));
  }, RUN_LIMITS.abortMs);
  await Promise.race([done, late.promise]).finally(() => clearInterval(look));
}

/** How to say something to a conversation whose run is over. */
function goOnIn(thread: string): string {
  return `Start the next run of its conversation: POST /v1/runs with "thread":"${thread}", or vidro run --thread ${thread}.`;
}
