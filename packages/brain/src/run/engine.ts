import {
  asFault,
  Fault,
  handAction,
  isTerminal,
  LONGEST_TIMER_MS,
  MODEL_LIMITS,
  RUN_LIMITS,
  spendingIn,
} from "@vidro/core";
import {
  acceptRemark,
  decide,
  endingAction,
  nextHealing,
  isSettled,
  outcomeOf,
  recallOf,
  reduce,
} from "@vidro/core/run";
import type {
  Action,
  ActionEnd,
  Entry,
  Event,
  FaultReport,
  Lease,
  LiveEvent,
  Order,
  RemarkMade,
  RunAborted,
  RunFailed,
} from "@vidro/core";
import type { Decision, RunState, SharedCost } from "@vidro/core/run";
import { keptEvent, momentIn } from "./opening-entries.ts";
import {
  interruptedPhase,
  EffectWaits,
  unknownAction,
  NOT_ORDERED,
  NOT_STOPPED,
  endProcesses,
  performOrder,
} from "./perform-action.ts";
import { callModel, mayCallNext, whenReadable } from "./call-model.ts";
import { answeredBy, openQuestionOf, type QuestionAnswer } from "./person-answer.ts";
import { JournalWriter } from "./journal-writer.ts";
import type { RunDependencies } from "./run-dependencies.ts";

/*
 * The loop: decide → record the intent → carry out the one effect → record the outcome → again.
 * Nothing is kept outside the state, and the state is the fold of the journal, so a loop that stops anywhere goes on
 * from the journal as if it had never stopped.
 */

/** Drives one run in this process. */
export class RunLoop {
  readonly #deps: RunDependencies;
  readonly #lease: Lease;
  /** Id of the action that an earlier loop may have ordered. */
  readonly #found: string | undefined;
  #state: RunState;
  readonly #writer: JournalWriter;
  /** Resolves when everything recorded so far is durable; `#save` sees to that. */
  #saved: Promise<void> = Promise.resolve();
  /** Resolves when everything that the model used so far is in the store's sums. */
  #counted: Promise<void> = Promise.resolve();
  /** Aborted when the effect under way has to end: on abort, failure or stop. */
  readonly #halt = new AbortController();
  /** The terminal event to record instead of going on. */
  #ending: RunAborted | RunFailed | undefined;
  #stopped = false;
  /** How many of the run's processes were told to end. */
  #endedProcesses = 0;
  #lost: Fault | undefined;
  /** Set while the run waits: ends the wait. */
  #wake: (() => void) | undefined;
  /** Waits for effects; over when an aborted run stops waiting for the one under way. */
  readonly #waits = new EffectWaits();

  constructor(deps: RunDependencies, lease: Lease, state: RunState) {
    this.#deps = deps;
    this.#lease = lease;
    this.#writer = new JournalWriter(deps.journal, lease);
    const phase = interruptedPhase(state);
    this.#found = phase.name === "acting" ? phase.action.id : undefined;
    this.#state = state;
  }

  /** State of the run, with every event recorded so far. */
  get state(): RunState {
    return this.#state;
  }

  /** The fault for which the store refuses entries now; undefined while it takes them. */
  get storeFault(): Fault | undefined {
    return this.#writer.trouble;
  }

  /**
   * Drives until the run is over or stopped; rejects with the Fault for which the store refuses its entries for good.
   */
  async run(): Promise<void> {
    this.#writer.hold((fault) => {
      // Another process has the lease; the store refuses this loop's appends by their epoch.
      this.#lost = fault;
      this.stop();
    });
    try {
      while (!this.#stopped) {
        if (this.#ending !== undefined) await this.#end(this.#ending);
        this.#recordWait();
        const shared = mayCallNext(this.#state) ? await this.#readSharedCosts() : undefined;
        const decision = decide(this.#state, momentIn(this.#lease.run, this.#deps, shared));
        const isOver = decision.do === "stop" || (decision.do === "record" && isTerminal(decision.event));
        // Before the run's end is recorded, because a brain that is killed in between has nothing to go on with.
        if (isOver && (await this.#endProcesses()) && decision.do !== "stop") continue;
        if (decision.do === "stop") break;
        if (decision.do === "record") this.#record([decision.event]);
        else await this.#carryOut(decision);
      }
    } finally {
      // Requested together, so that the last entries and the release of the lease share one commit.
      await Promise.all([this.#saved, this.#writer.release()]);
    }
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Answers the open question; resolves when the answer is durable, and rejects as `answeredBy` does. */
  async answer(given: QuestionAnswer): Promise<void> {
    try {
      const answered = await answeredBy(this.#state, given, this.#deps);
      // Another answer may have come while the hand judged a change.
      openQuestionOf(this.#state, answered.id);
      this.#record([answered]);
      this.#wake?.();
    } finally {
      // Refusals wait, too: the caller reads in the journal whether the answer that closed the question is the same.
      await this.#save();
    }
  }

  /** Records what a person says for the model's next step, once for each id; resolves when it is durable. */
  async say(remark: Omit<RemarkMade, "type">): Promise<void> {
    if (this.#ending !== undefined) throw new Fault("CONFLICT", "The run is being stopped.");
    const made = acceptRemark(this.#state, remark);
    if (made !== undefined) this.#record([made]);
    await this.#save();
  }

  /** Aborts the run: the effect under way first, as far as it ends in time, then the run itself. */
  abort(reason: string): void {
    this.#endWith({ type: "run.aborted", reason }, new Fault("CONFLICT", reason));
  }

  /** Ends the run in the same way because of an error that escaped from its code. */
  fail(fault: Fault): void {
    this.#endWith({ type: "run.failed", fault: fault.report() }, fault);
  }

  /** Stops driving and leaves the run open: it goes on from the journal later. */
  stop(): void {
    this.#stopped = true;
    this.#writer.stop();
    this.#halt.abort(new Fault("SHUTTING_DOWN", "The brain is stopping."));
    this.#wake?.();
  }

  #endWith(ending: RunAborted | RunFailed, why: Fault): void {
    this.#ending ??= ending;
    this.#halt.abort(why);
    setTimeout(() => this.#waits.end(), RUN_LIMITS.haltMs).unref();
    this.#wake?.();
  }

  async #carryOut(decision: Exclude<Decision, { do: "stop" | "record" }>): Promise<void> {
    switch (decision.do) {
      case "judge":
        return this.#record(await this.#guard(() => this.#waits.inTime(this.#judge(decision.action), [])));
      case "call_model":
        await this.#save();
        return this.#record(await this.#guard(() => this.#waits.inTime(this.#callModel(), [])));
      case "act": {
        await this.#save();
        this.#record(await this.#guard(() => this.#act(decision.action, decision.approved), decision.action));
        return this.#acknowledge(decision.action);
      }
      case "wait": {
        await this.#save();
        const lost = unknownAction(this.#state);
        if (lost === undefined) return this.#wait(decision.until);
        return this.#awaitTruth(lost, decision.until);
      }
    }
  }

  /** Ends the processes that end with the run, each once; false when none was left to end. */
  async #endProcesses(): Promise<boolean> {
    const left = this.#state.processes.slice(this.#endedProcesses);
    if (left.length === 0 || this.#stopped) return false;
    this.#endedProcesses += left.length;
    const orders = left.map((action) => this.#orderOf(endingAction(action), undefined));
    await this.#waits.inTime(endProcesses(this.#deps.hand, orders), undefined);
    return true;
  }

  /** Records an early end once every started action has its outcome. */
  async #end(ending: RunAborted | RunFailed): Promise<void> {
    const phase = interruptedPhase(this.#state);
    const action = phase.name === "acting" ? phase.action : unknownAction(this.#state);
    if (phase.name === "acting")
      this.#record(await this.#guard(() => this.#act(phase.action, phase.approved), phase.action));
    else if (action !== undefined) await this.#waits.inTime(this.#recall(action), undefined);
    await this.#endProcesses();
    if (this.#state.phase.name !== "ended") this.#record([ending]);
    if (action !== undefined) this.#acknowledge(action);
  }

  /**
   * Lets the hand forget an outcome once it is durable here; an unknown outcome may still be asked for, so it is kept.
   */
  #acknowledge({ id }: Action): void {
    if (this.#state.phase.name === "outcome-unknown") return;
    // A failed save is reported by the loop.
    void this.#saved.then(() => this.#deps.hand.acknowledge(id)).catch(() => undefined);
  }

  /** Folds events into the state at once and gathers them for the next append; durable when `#saved` resolves. */
  #record(events: readonly Event[]): void {
    if (events.length === 0) return;
    const at = this.#deps.now();
    const entries: Entry[] = [];
    for (const event of events) {
      const entry = { seq: this.#state.seq + 1, at, event: keptEvent(event, this.#deps) };
      this.#state = reduce(this.#state, entry);
      entries.push(entry);
    }
    this.#saved = this.#writer.add(entries);
    if (events.some((event) => spendingIn(event) !== undefined)) this.#counted = this.#saved;
  }

  /** Resolves when everything recorded so far is durable. */
  #save(): Promise<void> {
    this.#writer.send();
    return this.#saved;
  }

  /** The bounded costs that the run shares with others, before a decision that may call the model. */
  async #readSharedCosts(): Promise<readonly SharedCost[]> {
    const { sharedCosts, model } = this.#deps;
    if (sharedCosts === undefined) return [];
    // Only where the spending itself has not been sent: an action's outcome waits for the intent that follows it.
    if (this.#counted === this.#saved) this.#writer.send();
    await this.#counted;
    const rest = (ms: number): Promise<void> => this.#wait(this.#deps.now() + ms);
    return whenReadable(() => sharedCosts(this.#state.started, model), rest, this.#halt.signal);
  }

  /** Asks the hand for its verdict until it is reachable; nothing is ordered yet, so giving up is a plain failure. */
  async #judge(action: Action): Promise<readonly Event[]> {
    const givenUpAt = this.#deps.now() + RUN_LIMITS.judgeMs;
    for (let attempt = 1; ; attempt++) {
      const judged = await this.#deps.hand.judge(handAction(action, this.#state.tools));
      if (!("code" in judged)) return [{ type: "policy.judged", action: action.id, ...judged }];
      const isAway = judged.code === "HAND_UNAVAILABLE" && this.#deps.now() < givenUpAt;
      if (!isAway) return [{ type: "action.failed", action: action.id, fault: judged }];
      if (!(await this.#rest(judged, attempt))) return [];
    }
  }

  #callModel(): Promise<readonly Event[]> {
    return callModel({
      run: this.#lease.run,
      deps: this.#deps,
      state: () => this.#state,
      record: (events) => this.#record(events),
      signal: this.#halt.signal,
    });
  }

  /** Repeats the order until the hand takes it: under one id the hand carries it out once, however often it is given. */
  async #act(action: Action, approved: string | undefined): Promise<readonly Event[]> {
    const givenUpAt = this.#deps.now() + RUN_LIMITS.handMs;
    const { tools } = this.#state;
    for (let attempt = 1; ; attempt++) {
      const before = attempt > 1 || this.#found === action.id;
      const isAborted = this.#halt.signal.aborted;
      if (isAborted && this.#ending === undefined) return [];
      const ended = before || !isAborted ? await this.#order(action, approved, before) : NOT_ORDERED;
      const isAway = ended.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE";
      const isGivenUp = isAborted || this.#deps.now() >= givenUpAt;
      if (!isAway || isGivenUp) return [outcomeOf(ended, { action, tools, hasEarlierOrder: before || isAway })];
      await this.#rest(ended.fault, attempt);
    }
  }

  /**
   * Waits for a person's answer about an unknown outcome; a settled outcome from the hand, if it is first, replaces it.
   */
  async #awaitTruth(action: Action, until: number): Promise<void> {
    const ask = (): void => void this.#recall(action).catch(() => undefined);
    const forget = this.#deps.hand.watch?.(ask);
    ask();
    await this.#wait(until);
    forget?.();
    if (unknownAction(this.#state) === undefined) this.#acknowledge(action);
  }

  /** Asks the hand for the outcome of an action that a person is asked about; records it while the question is open. */
  async #recall(action: Action): Promise<void> {
    const order = recallOf(this.#orderOf(action, undefined));
    for await (const ended of this.#deps.hand.perform(order, this.#halt.signal)) {
      if (ended.type === "output" || !isSettled(ended) || unknownAction(this.#state)?.id !== action.id) continue;
      if (this.#stopped) return;
      this.#record([outcomeOf(ended, { action, tools: this.#state.tools, hasEarlierOrder: true })]);
      this.#wake?.();
    }
  }

  /** Backs off while a hand is away and records that once; false when the loop is to end instead. */
  async #rest(fault: FaultReport, attempt: number): Promise<boolean> {
    const healing = nextHealing(fault, Math.min(attempt, MODEL_LIMITS.attempts - 1), this.#deps.chance());
    if (healing !== undefined && !this.#halt.signal.aborted) {
      if (attempt === 1) this.#record([healing]);
      const forget = this.#deps.hand.watch?.(() => this.#wake?.());
      await this.#wait(this.#deps.now() + healing.delayMs);
      forget?.();
    }
    return !this.#halt.signal.aborted;
  }

  #orderOf(action: Action, approved: string | undefined): Order {
    const { tools, ledger, started } = this.#state;
    const { traces } = this.#deps;
    const { run } = this.#lease;
    return {
      action: handAction(action, tools),
      epoch: this.#lease.epoch,
      run,
      ttlMs: RUN_LIMITS.orderMs,
      ...(approved === undefined ? {} : { approved }),
      ...(ledger === undefined ? {} : { ledger }),
      ...(traces === undefined ? {} : { traceparent: traces.traceparent(run, started, `action:${action.id}`) }),
    };
  }

  /** Gives an order and resolves with its end; NOT_STOPPED when the run is aborted and the hand does not stop in time. */
  async #order(action: Action, approved: string | undefined, wasOrdered: boolean): Promise<ActionEnd> {
    const { hand, redactor, live } = this.#deps;
    const { signal } = this.#halt;
    const publish = (event: LiveEvent): void => live.publish(this.#lease.run, { after: this.#state.seq, event });
    const sink = { redactor, publish, isRepeated: wasOrdered, signal };
    const performed = performOrder(hand, this.#orderOf(action, approved), sink);
    const ended = await this.#waits.inTime(performed, undefined);
    if (ended !== undefined) return ended;
    performed.then(() => hand.acknowledge(action.id)).catch(() => undefined);
    return NOT_STOPPED;
  }

  /**
   * An error thrown inside an effect fails the run, with a trace id that leads to the stack in the log; the outcome of
   * an action that was under way is recorded as unknown.
   */
  async #guard(effect: () => Promise<readonly Event[]>, action?: Action): Promise<readonly Event[]> {
    try {
      return await effect();
    } catch (thrown) {
      const traceId = this.#deps.newActionId();
      this.#deps.report(traceId, thrown);
      const { code, message } = asFault(thrown);
      const fault = { code, message: `${message} (trace ${traceId})` };
      const ended = { type: "failed", fault: { code: "INTERNAL_ERROR", message: fault.message } } as const;
      const lost = action && outcomeOf(ended, { action, tools: this.#state.tools, hasEarlierOrder: true });
      return [...(lost === undefined ? [] : [lost]), { type: "run.failed", fault }];
    }
  }

  #wait(until: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(0, until - this.#deps.now()), LONGEST_TIMER_MS));
      this.#wake = done;
      if (this.#halt.signal.aborted) done();
    });
  }

  /** Records a wait for the store once the store is back; not where it would be read as a healing of the model. */
  #recordWait(): void {
    const { name } = this.#state.phase;
    const wait = name === "ended" || name === "model-failed" ? undefined : this.#writer.takeWait();
    if (wait !== undefined) this.#record([wait]);
  }
}
