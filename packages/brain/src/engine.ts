import { asFault, decide, Fault, handAction, heal, MODEL, prompt, reduce, replyEvents, RUN } from "@vidro/core";
import type {
  Action,
  Decision,
  Ended,
  Entry,
  Event,
  FaultReport,
  Hand,
  Journal,
  Json,
  Lease,
  LiveBus,
  LiveEvent,
  Model,
  Redactor,
  RunStarted,
  RunState,
  TextStream,
} from "@vidro/core";
import { isPassing, Writer } from "./writer.ts";

/*
 * The loop: decide → record the intent → carry out the one effect → record the outcome → again.
 * Nothing is remembered outside the state, and the state is the fold of the journal, so a drive that stops anywhere
 * goes on from the journal as if it had never stopped.
 */

/** Everything that a drive needs of the world. */
export interface World {
  readonly journal: Journal;
  readonly model: Model;
  readonly hand: Hand;
  readonly live: LiveBus;
  /** The one choke point: everything passes it before it is journaled or shown. */
  readonly redactor: Redactor;
  readonly now: () => number;
  readonly chance: () => number;
  readonly newActionId: () => string;
  /** Our own faults go here with their stack; the run gets only the trace id. */
  readonly report: (traceId: string, thrown: unknown) => void;
}

/** One run being driven by this process. */
export class Drive {
  readonly #world: World;
  readonly #lease: Lease;
  /** The action that an earlier drive may have ordered. */
  readonly #found: string | undefined;
  #state: RunState;
  readonly #writer: Writer;
  /** Resolves when everything recorded so far is durable. */
  #saved: Promise<void> = Promise.resolve();
  /** Aborted when the running effect has to end, whatever the reason. */
  readonly #halt = new AbortController();
  #abortReason: string | undefined;
  /** A fault of our own that escaped from the run's code. */
  #escaped: Fault | undefined;
  #stopped = false;
  #lost: Fault | undefined;
  /** Set while the run waits: ends the wait. */
  #wake: (() => void) | undefined;

  constructor(world: World, lease: Lease, state: RunState) {
    this.#world = world;
    this.#lease = lease;
    this.#writer = new Writer(world.journal, lease);
    this.#found = state.phase.name === "acting" ? state.phase.action.id : undefined;
    this.#state = state;
  }

  /** Where the run stands. */
  get state(): RunState {
    return this.#state;
  }

  /** Drives until the run is over or stopped; rejects with the Fault that keeps it from being recorded. */
  async run(): Promise<void> {
    const renewal = setInterval(() => void this.#renew(), RUN.leaseMs / 3);
    renewal.unref();
    try {
      while (!this.#stopped) {
        if (this.#abortReason !== undefined && this.#state.phase.name !== "over") {
          this.#record([{ type: "run.aborted", reason: this.#abortReason }]);
        }
        if (this.#escaped !== undefined && this.#state.phase.name !== "over") {
          this.#record([{ type: "run.failed", fault: this.#escaped.report() }]);
        }
        this.#tellWait();
        const decision = decide(this.#state, { now: this.#world.now(), chance: this.#world.chance() });
        if (decision.do === "rest") break;
        if (decision.do === "record") this.#record([decision.event]);
        else await this.#carryOut(decision);
      }
    } finally {
      clearInterval(renewal);
      // Asked for together, so that the last entries and giving back the lease share one commit.
      await Promise.all([this.#saved, this.#release()]);
    }
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Answers the open question; resolves when the answer is durable. */
  async answer(answer: string, by: string, question?: string): Promise<void> {
    const { phase } = this.#state;
    if (phase.name !== "asking") throw new Fault("CONFLICT", "No question is open in this run.");
    if (question !== undefined && question !== phase.question.id) {
      throw new Fault("CONFLICT", `Question ${question} is closed; the open one is ${phase.question.id}.`);
    }
    this.#record([{ type: "question.answered", id: phase.question.id, answer: answer.slice(0, RUN.answerChars), by }]);
    const saved = this.#saved;
    this.#wake?.();
    await saved;
  }

  /** Ends the run: the effect under way first, then the run itself. */
  abort(reason: string): void {
    this.#abortReason ??= reason;
    this.#halt.abort(new Fault("CONFLICT", reason));
    this.#wake?.();
  }

  /** Ends the run because of an error that escaped from its code: the effect under way first, then the run itself. */
  fail(fault: Fault): void {
    this.#escaped ??= fault;
    this.#halt.abort(fault);
    this.#wake?.();
  }

  /** Stops driving and leaves the run open: it goes on from the journal later. */
  stop(): void {
    this.#stopped = true;
    this.#writer.stop();
    this.#halt.abort(new Fault("SHUTTING_DOWN", "The brain is stopping."));
    this.#wake?.();
  }

  async #carryOut(decision: Exclude<Decision, { do: "rest" | "record" }>): Promise<void> {
    switch (decision.do) {
      case "judge":
        return this.#record(await this.#guarded(() => this.#judge(decision.action)));
      case "call_model":
        await this.#saved;
        return this.#record(await this.#guarded(() => this.#callModel()));
      case "act": {
        await this.#saved;
        const { action } = decision;
        this.#record(await this.#guarded(() => this.#act(action, decision.approved)));
        // The hand may forget the outcome only when it is durable here; a failed save is reported by the loop.
        void this.#saved.then(() => this.#world.hand.acknowledge(action.id)).catch(() => undefined);
        return;
      }
      case "wait":
        await this.#saved;
        return this.#wait(decision.until);
    }
  }

  /** Writes down what happened; it counts from now on, and is durable when `#saved` resolves. */
  #record(events: readonly Event[]): void {
    if (events.length === 0) return;
    const at = this.#world.now();
    const entries: Entry[] = [];
    for (const event of events) {
      const entry = { seq: this.#state.seq + 1, at, event: clean(event, this.#world.redactor) };
      this.#state = reduce(this.#state, entry);
      entries.push(entry);
    }
    this.#saved = this.#writer.append(entries);
    // Whoever needs it awaits it; this keeps a rejection that comes first from being called unhandled.
    this.#saved.catch(() => undefined);
  }

  /** Asks the hand until it is there: nothing is ordered yet, so that giving up is a plain failure. */
  async #judge(action: Action): Promise<readonly Event[]> {
    const givenUpAt = this.#world.now() + RUN.judgeMs;
    for (let attempt = 1; ; attempt++) {
      const judged = await this.#world.hand.judge(handAction(action, this.#state.tools));
      if (!("code" in judged)) return [{ type: "policy.judged", action: action.id, ...judged }];
      const isAway = judged.code === "HAND_UNAVAILABLE" && this.#world.now() < givenUpAt;
      if (!isAway) return [{ type: "action.failed", action: action.id, fault: judged }];
      if (!(await this.#rest(judged, attempt))) return [];
    }
  }

  async #callModel(): Promise<readonly Event[]> {
    const healed: Event[] = [];
    const redacted = this.#world.redactor.stream();
    for await (const event of this.#world.model.call(prompt(this.#state), this.#halt.signal)) {
      switch (event.type) {
        case "delta":
          this.#tell({ type: "model.delta", text: redacted.push(event.text) });
          break;
        case "healed":
          healed.push(event.heal);
          break;
        case "failed":
          if (this.#halt.signal.aborted) return healed;
          return [...healed, { type: "model.failed", attempt: this.#state.attempt, fault: event.fault }];
        case "replied":
          this.#tell({ type: "model.delta", text: redacted.end() });
          return [...healed, ...replyEvents(event.reply, this.#state, this.#world.newActionId)];
      }
    }
    throw new Error(`The model ${this.#world.model.name} ended its stream without a terminal event.`);
  }

  /** Gives the order until the hand takes it: under one id it is carried out once, however often it is given. */
  async #act(action: Action, approved: string | undefined): Promise<readonly Event[]> {
    const givenUpAt = this.#world.now() + RUN.handMs;
    for (let attempt = 1; ; attempt++) {
      const wasOrdered = attempt > 1 || this.#found === action.id;
      const ended = await this.#order(action, approved, wasOrdered);
      // A hand that was barred in the meantime does not say any more what it did.
      const isBarred = ended.type === "failed" && wasOrdered && BARRED.has(ended.fault.code);
      if (ended.type !== "failed" || (ended.fault.code !== "HAND_UNAVAILABLE" && !isBarred)) {
        const { type, ...how } = ended;
        return [{ type: `action.${type}`, action: action.id, ...how } as Event];
      }
      if (isBarred || this.#world.now() >= givenUpAt) {
        const message = `${ended.fault.message} It was ordered and may have been carried out.`;
        return [{ type: "action.unknown", action: action.id, fault: { code: "OUTCOME_UNKNOWN", message } }];
      }
      if (!(await this.#rest(ended.fault, attempt))) return [];
    }
  }

  /** Waits a while for a hand that is away, and says so once; false when the drive is to end instead. */
  async #rest(fault: FaultReport, attempt: number): Promise<boolean> {
    const healing = heal(fault, Math.min(attempt, MODEL.attempts - 1), this.#world.chance());
    if (healing !== undefined && !this.#halt.signal.aborted) {
      if (attempt === 1) this.#record([healing]);
      const forget = this.#world.hand.watch?.(() => this.#wake?.());
      await this.#wait(this.#world.now() + healing.delayMs);
      forget?.();
    }
    return !this.#halt.signal.aborted;
  }

  async #order(action: Action, approved: string | undefined, wasOrdered: boolean): Promise<Ended> {
    const order = {
      action: handAction(action, this.#state.tools),
      epoch: this.#lease.epoch,
      run: this.#lease.run,
      ttlMs: RUN.orderMs,
      ...(approved === undefined ? {} : { approved }),
    };
    const streams = new Map<"stdout" | "stderr", TextStream>();
    const told = { stdout: 0, stderr: 0 };
    const tell = (stream: "stdout" | "stderr", chunk: string): void => {
      const place = wasOrdered ? {} : { from: told[stream] };
      this.#tell({ type: "action.output", action: action.id, stream, chunk, ...place });
      told[stream] += chunk.length;
    };
    for await (const event of this.#world.hand.perform(order, this.#halt.signal)) {
      if (event.type === "output") {
        const redacted = streams.get(event.stream) ?? this.#world.redactor.stream();
        streams.set(event.stream, redacted);
        tell(event.stream, redacted.push(event.chunk));
        continue;
      }
      for (const [stream, redacted] of streams) tell(stream, redacted.end());
      return event;
    }
    throw new Error(`The hand ${this.#world.hand.id} ended its stream without a terminal event.`);
  }

  /** A bug inside an effect ends the run by name, with a trace id that leads to the stack in the log. */
  async #guarded(effect: () => Promise<readonly Event[]>): Promise<readonly Event[]> {
    try {
      return await effect();
    } catch (thrown) {
      const traceId = this.#world.newActionId();
      this.#world.report(traceId, thrown);
      const { code, message } = asFault(thrown);
      return [{ type: "run.failed", fault: { code, message: `${message} (trace ${traceId})` } }];
    }
  }

  #tell(event: LiveEvent): void {
    if ((event.type === "model.delta" ? event.text : event.chunk) === "") return;
    this.#world.live.tell(this.#lease.run, { after: this.#state.seq, event });
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

  /** A wait for the store is on record once the store is back: a healing like any other, except beside the model's. */
  #tellWait(): void {
    const { name } = this.#state.phase;
    const wait = name === "over" || name === "faulted" ? undefined : this.#writer.takeWait();
    if (wait === undefined) return;
    const { fault, attempts: attempt, waitedMs } = wait;
    const metadata = { code: fault.code, cause: fault.message, waited_ms: waitedMs };
    const description = `The store did not take entries for ${waitedMs} ms; they were kept and are recorded now.`;
    const healing = { healing: "wait_for_store", severity: "critical", delayMs: 0 } as const;
    this.#record([{ type: "heal.tried", ...healing, description, attempt, metadata }]);
  }

  /** A lease that the store does not take back now runs out by itself. */
  async #release(): Promise<void> {
    await this.#world.journal.release(this.#lease).catch((thrown: unknown) => {
      if (!isPassing(thrown)) throw thrown;
    });
  }

  async #renew(): Promise<void> {
    try {
      await this.#world.journal.renew(this.#lease);
    } catch (thrown) {
      // A store that cannot be written now says nothing about whose the run is.
      if (isPassing(thrown)) return;
      // Somebody else drives the run now; what this drive would still append is refused by its epoch.
      this.#lost = asFault(thrown);
      this.stop();
    }
  }
}

/** Faults of a hand that is not asked any more. */
const BARRED: ReadonlySet<string> = new Set(["HAND_REVOKED", "HAND_QUARANTINED"]);

/** The first entries of a run, and where they lead: what follows from its start alone shares the commit of the start. */
export function opened(
  started: RunStarted,
  { now, chance, redactor }: Pick<World, "now" | "chance" | "redactor">,
): { readonly entries: readonly Entry[]; readonly state: RunState } {
  const at = now();
  const entries: Entry[] = [{ seq: 1, at, event: clean(started, redactor) }];
  let state = reduce(undefined, entries[0]!);
  for (;;) {
    const decision = decide(state, { now: at, chance: chance() });
    if (decision.do !== "record") return { entries, state };
    const entry = { seq: state.seq + 1, at, event: clean(decision.event, redactor) };
    state = reduce(state, entry);
    entries.push(entry);
  }
}

/** Timers wrap around beyond this many milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** An event without secrets; it keeps its shape, since only texts are replaced. */
export function clean<Kind extends Event>(event: Kind, redactor: Redactor): Kind {
  return redactor.value(event as unknown as Json) as unknown as Kind;
}
