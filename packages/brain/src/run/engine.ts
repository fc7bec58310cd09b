import { asFault, Fault, handAction, MODEL_LIMITS, RUN_LIMITS } from "@vidro/core";
import { decide, nextHealing, isSettled, outcomeOf, buildPrompt, recallOf, reduce, replyEvents } from "@vidro/core/run";
import { isApproval, readAnswer } from "@vidro/core/text";
import type {
  Action,
  ActionEnd,
  Entry,
  Event,
  FaultReport,
  Lease,
  LiveEvent,
  Order,
  RunAborted,
  RunFailed,
} from "@vidro/core";
import type { Decision, RunState } from "@vidro/core/run";
import { redactEvent, momentIn } from "./opening-entries.ts";
import { interruptedPhase, unknownAction, NOT_ORDERED, NOT_STOPPED, performOrder } from "./perform-action.ts";
import { LiveText } from "./live-text.ts";
import { JournalWriter } from "./journal-writer.ts";
import type { RunWorld } from "./run-world.ts";

/*
 * The loop: decide → record the intent → carry out the one effect → record the outcome → again.
 * Nothing is remembered outside the state, and the state is the fold of the journal, so a drive that stops anywhere
 * goes on from the journal as if it had never stopped.
 */

/** An answer to a question of a run. */
export interface QuestionAnswer {
  readonly text: string;
  readonly by: string;
  /** The question that is meant; the open one without it. */
  readonly question?: string | undefined;
  /** Whether who answers may approve effects; left out by code that acts for the person at this machine. */
  readonly mayApprove?: boolean;
}

/** One run being driven by this process. */
export class RunLoop {
  readonly #world: RunWorld;
  readonly #lease: Lease;
  /** The action that an earlier drive may have ordered. */
  readonly #found: string | undefined;
  #state: RunState;
  readonly #writer: JournalWriter;
  /** Resolves when everything recorded so far is durable. */
  #saved: Promise<void> = Promise.resolve();
  /** Aborted when the running effect has to end, whatever the reason. */
  readonly #halt = new AbortController();
  /** How the run is to end before its time. */
  #ending: RunAborted | RunFailed | undefined;
  #stopped = false;
  #lost: Fault | undefined;
  /** Set while the run waits: ends the wait. */
  #wake: (() => void) | undefined;
  /** Resolves when a run that is to be aborted waits no longer for what is under way. */
  readonly #overdue = Promise.withResolvers<void>();

  constructor(world: RunWorld, lease: Lease, state: RunState) {
    this.#world = world;
    this.#lease = lease;
    this.#writer = new JournalWriter(world.journal, lease);
    const phase = interruptedPhase(state);
    this.#found = phase.name === "acting" ? phase.action.id : undefined;
    this.#state = state;
  }

  /** Where the run stands. */
  get state(): RunState {
    return this.#state;
  }

  /** What keeps the store from taking what was recorded, while it does. */
  get storeFault(): Fault | undefined {
    return this.#writer.trouble;
  }

  /** Drives until the run is over or stopped; rejects with the Fault that keeps it from being recorded. */
  async run(): Promise<void> {
    this.#writer.hold((fault) => {
      // Somebody else drives the run now; what this drive would still append is refused by its epoch.
      this.#lost = fault;
      this.stop();
    });
    try {
      while (!this.#stopped) {
        if (this.#ending !== undefined) await this.#end(this.#ending);
        this.#tellWait();
        const decision = decide(this.#state, momentIn(this.#lease.run, this.#world));
        if (decision.do === "stop") break;
        if (decision.do === "record") this.#record([decision.event]);
        else await this.#carryOut(decision);
      }
    } finally {
      // Asked for together, so that the last entries and giving back the lease share one commit.
      await Promise.all([this.#saved, this.#writer.release()]);
    }
    if (this.#lost !== undefined) throw this.#lost;
  }

  /**
   * Answers the open question; resolves when the answer is durable. BAD_ARGUMENTS for words that are no answer to it:
   * the question stays open. FORBIDDEN for a yes to an effect, of one who may not approve.
   */
  async answer({ text, by, question, mayApprove = true }: QuestionAnswer): Promise<void> {
    const { phase } = this.#state;
    if (phase.name !== "asking") throw new Fault("CONFLICT", "No question is open in this run.");
    if (question !== undefined && question !== phase.question.id) {
      throw new Fault("CONFLICT", `Question ${question} is closed; the open one is ${phase.question.id}.`);
    }
    const answer = readAnswer(phase.question, text.slice(0, RUN_LIMITS.answerChars));
    if (answer === undefined) {
      const options = phase.question.options.join(" or ");
      throw new Fault("BAD_ARGUMENTS", `The answer is ${options}; question ${phase.question.id} stays open.`);
    }
    if (!mayApprove && isApproval(phase.question, answer)) throw new Fault("FORBIDDEN", "scope approve required");
    this.#record([{ type: "question.answered", id: phase.question.id, answer, by }]);
    const saved = this.#saved;
    this.#wake?.();
    await saved;
  }

  /** Ends the run: the effect under way first, as far as it ends in time, then the run itself. */
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
    setTimeout(() => this.#overdue.resolve(), RUN_LIMITS.haltMs).unref();
    this.#wake?.();
  }

  async #carryOut(decision: Exclude<Decision, { do: "stop" | "record" }>): Promise<void> {
    switch (decision.do) {
      case "judge":
        return this.#record(await this.#guarded(() => this.#inTime(this.#judge(decision.action), [])));
      case "call_model":
        await this.#saved;
        return this.#record(await this.#guarded(() => this.#inTime(this.#callModel(), [])));
      case "act": {
        await this.#saved;
        this.#record(await this.#guarded(() => this.#act(decision.action, decision.approved), decision.action));
        return this.#acknowledge(decision.action);
      }
      case "wait": {
        await this.#saved;
        const lost = unknownAction(this.#state);
        if (lost === undefined) return this.#wait(decision.until);
        return this.#awaitTruth(lost, decision.until);
      }
    }
  }

  /** Ends the run before its time once every action that was started has its outcome. */
  async #end(ending: RunAborted | RunFailed): Promise<void> {
    const phase = interruptedPhase(this.#state);
    const action = phase.name === "acting" ? phase.action : unknownAction(this.#state);
    if (phase.name === "acting")
      this.#record(await this.#guarded(() => this.#act(phase.action, phase.approved), phase.action));
    else if (action !== undefined) await this.#inTime(this.#recall(action), undefined);
    if (this.#state.phase.name !== "ended") this.#record([ending]);
    if (action !== undefined) this.#acknowledge(action);
  }

  /** The hand may forget the outcome only when it is durable here; what nobody knows yet it may still be asked for. */
  #acknowledge({ id }: Action): void {
    if (this.#state.phase.name === "outcome-unknown") return;
    // A failed save is reported by the loop.
    void this.#saved.then(() => this.#world.hand.acknowledge(id)).catch(() => undefined);
  }

  /** Writes down what happened; it counts from now on, and is durable when `#saved` resolves. */
  #record(events: readonly Event[]): void {
    if (events.length === 0) return;
    const at = this.#world.now();
    const entries: Entry[] = [];
    for (const event of events) {
      const entry = { seq: this.#state.seq + 1, at, event: redactEvent(event, this.#world.redactor) };
      this.#state = reduce(this.#state, entry);
      entries.push(entry);
    }
    this.#saved = this.#writer.append(entries);
    // Whoever needs it awaits it; this keeps a rejection that comes first from being called unhandled.
    this.#saved.catch(() => undefined);
  }

  /** Asks the hand until it is there: nothing is ordered yet, so that giving up is a plain failure. */
  async #judge(action: Action): Promise<readonly Event[]> {
    const givenUpAt = this.#world.now() + RUN_LIMITS.judgeMs;
    for (let attempt = 1; ; attempt++) {
      const judged = await this.#world.hand.judge(handAction(action, this.#state.tools));
      if (!("code" in judged)) return [{ type: "policy.judged", action: action.id, ...judged }];
      const isAway = judged.code === "HAND_UNAVAILABLE" && this.#world.now() < givenUpAt;
      if (!isAway) return [{ type: "action.failed", action: action.id, fault: judged }];
      if (!(await this.#rest(judged, attempt))) return [];
    }
  }

  async #callModel(): Promise<readonly Event[]> {
    const { model, redactor, newActionId } = this.#world;
    let speech = new LiveText(this.#state, redactor);
    for await (const event of model.call(buildPrompt(this.#state), this.#halt.signal)) {
      switch (event.type) {
        case "delta":
          this.#tell(speech.more(event));
          break;
        case "healed":
          if (this.#halt.signal.aborted) break;
          // On record before another word is told: it voids those that were told before.
          this.#record([event.heal]);
          speech = new LiveText(this.#state, redactor);
          break;
        case "failed":
          if (this.#halt.signal.aborted) return [];
          return [{ type: "model.failed", attempt: this.#state.attempt, fault: event.fault }];
        case "replied": {
          const events = replyEvents(event.reply, this.#state, newActionId);
          this.#tell(speech.rest(events));
          return events;
        }
      }
    }
    throw new Error(`The model ${model.name} ended its stream without a terminal event.`);
  }

  /** Gives the order until the hand takes it: under one id it is carried out once, however often it is given. */
  async #act(action: Action, approved: string | undefined): Promise<readonly Event[]> {
    const givenUpAt = this.#world.now() + RUN_LIMITS.handMs;
    const { tools } = this.#state;
    for (let attempt = 1; ; attempt++) {
      const before = attempt > 1 || this.#found === action.id;
      const isAborted = this.#halt.signal.aborted;
      if (isAborted && this.#ending === undefined) return [];
      const ended = before || !isAborted ? await this.#order(action, approved, before) : NOT_ORDERED;
      const isAway = ended.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE";
      const isGivenUp = isAborted || this.#world.now() >= givenUpAt;
      if (!isAway || isGivenUp) return [outcomeOf(ended, { action, tools, hasEarlierOrder: before || isAway })];
      await this.#rest(ended.fault, attempt);
    }
  }

  /** Waits for a person's word about an outcome that is unknown; the hand's own word, when it comes first, settles it. */
  async #awaitTruth(action: Action, until: number): Promise<void> {
    const ask = (): void => void this.#recall(action).catch(() => undefined);
    const forget = this.#world.hand.watch?.(ask);
    ask();
    await this.#wait(until);
    forget?.();
    if (unknownAction(this.#state) === undefined) this.#acknowledge(action);
  }

  /** Asks the hand what became of an action that a person is asked about; records the truth while they still are. */
  async #recall(action: Action): Promise<void> {
    const order = recallOf(this.#orderOf(action, undefined));
    for await (const ended of this.#world.hand.perform(order, this.#halt.signal)) {
      if (ended.type === "output" || !isSettled(ended) || unknownAction(this.#state)?.id !== action.id) continue;
      if (this.#stopped) return;
      this.#record([outcomeOf(ended, { action, tools: this.#state.tools, hasEarlierOrder: true })]);
      this.#wake?.();
    }
  }

  /** Waits a while for a hand that is away, and says so once; false when the drive is to end instead. */
  async #rest(fault: FaultReport, attempt: number): Promise<boolean> {
    const healing = nextHealing(fault, Math.min(attempt, MODEL_LIMITS.attempts - 1), this.#world.chance());
    if (healing !== undefined && !this.#halt.signal.aborted) {
      if (attempt === 1) this.#record([healing]);
      const forget = this.#world.hand.watch?.(() => this.#wake?.());
      await this.#wait(this.#world.now() + healing.delayMs);
      forget?.();
    }
    return !this.#halt.signal.aborted;
  }

  #orderOf(action: Action, approved: string | undefined): Order {
    const { tools, ledger } = this.#state;
    return {
      action: handAction(action, tools),
      epoch: this.#lease.epoch,
      run: this.#lease.run,
      ttlMs: RUN_LIMITS.orderMs,
      ...(approved === undefined ? {} : { approved }),
      ...(ledger === undefined ? {} : { ledger }),
    };
  }

  /** How an order ends; a hand that does not stop in time when the run is aborted is left to it. */
  async #order(action: Action, approved: string | undefined, wasOrdered: boolean): Promise<ActionEnd> {
    const { hand, redactor } = this.#world;
    const audience = { redactor, tell: (output: LiveEvent) => this.#tell(output), isRepeated: wasOrdered };
    const performed = performOrder(hand, this.#orderOf(action, approved), this.#halt.signal, audience);
    const ended = await this.#inTime(performed, undefined);
    if (ended !== undefined) return ended;
    performed.then(() => hand.acknowledge(action.id)).catch(() => undefined);
    return NOT_STOPPED;
  }

  /** What an effect gives; the other thing when the run is aborted and the effect does not end in time. */
  #inTime<Given, Other>(effect: Promise<Given>, other: Other): Promise<Given | Other> {
    return Promise.race([effect, this.#overdue.promise.then(() => other)]);
  }

  /**
   * A bug inside an effect ends the run by name, with a trace id that leads to the stack in the log; nobody knows what
   * became of an action that was under way.
   */
  async #guarded(effect: () => Promise<readonly Event[]>, action?: Action): Promise<readonly Event[]> {
    try {
      return await effect();
    } catch (thrown) {
      const traceId = this.#world.newActionId();
      this.#world.report(traceId, thrown);
      const { code, message } = asFault(thrown);
      const fault = { code, message: `${message} (trace ${traceId})` };
      const ended = { type: "failed", fault: { code: "INTERNAL_ERROR", message: fault.message } } as const;
      const lost = action && outcomeOf(ended, { action, tools: this.#state.tools, hasEarlierOrder: true });
      return [...(lost === undefined ? [] : [lost]), { type: "run.failed", fault }];
    }
  }

  #tell(event: LiveEvent): void {
    if ((event.type === "model.delta" ? event.text : event.chunk) === "") return;
    this.#world.live.publish(this.#lease.run, { after: this.#state.seq, event });
  }

  #wait(until: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(0, until - this.#world.now()), MAX_TIMER_MS));
      this.#wake = done;
      if (this.#halt.signal.aborted) done();
    });
  }

  /** A wait for the store is on record once the store is back; not where a healing would be taken for the model's. */
  #tellWait(): void {
    const { name } = this.#state.phase;
    const wait = name === "ended" || name === "model-failed" ? undefined : this.#writer.takeWait();
    if (wait !== undefined) this.#record([wait]);
  }
}

/** Timers wrap around beyond this many milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
