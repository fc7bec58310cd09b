import { constants } from "node:os";
import { asFault, Fault, isTerminal } from "@vidro/core";
import { DIRECT } from "@vidro/core/run";
import type { Entry, FaultReport, LiveEvent, ProcessOutcome, QuestionAsked, ValueOutcome } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import { EXIT } from "../../program/exit-codes.ts";
import { faultRow } from "../../program/output.ts";
import type { SignedAnswer } from "../../view/questions.ts";
import type { BrainRuns } from "../../brain-api/brain-api.ts";

/** One command, or one call of a tool, on one hand. */
export interface ExecutionOptions {
  readonly runs: BrainRuns;
  readonly hand: HandRecord;
  /** The task of a direct run. */
  readonly task: string;
  readonly workspace: string;
  /** Receives output of the command while it runs. */
  readonly hear: (event: Extract<LiveEvent, { type: "action.output" }>) => void;
  /** Answers a question, given the entries before it; rejects when the signal fires because the question is closed. */
  readonly answer: (question: QuestionAsked, entries: readonly Entry[], signal: AbortSignal) => Promise<SignedAnswer>;
}

/** How the command ended. */
export interface ExecutionResult {
  readonly run: string;
  /** Exit code of the command, or of the fault. */
  readonly exit: number;
  readonly outcome?: ProcessOutcome;
  /** The outcome of a tool that starts no process. */
  readonly value?: ValueOutcome;
  readonly fault?: FaultReport;
}

/** Exit code of a command that timed out, as timeout(1) has it. */
const TIMED_OUT = 124;
/** Added to the number of the signal that ended a command, as shells do. */
const BY_SIGNAL = 128;

/** One command on one hand, as one run; it can be aborted, or left running. */
export class Execution {
  readonly #order: ExecutionOptions;
  readonly #hangUp = new AbortController();
  readonly #entries: Entry[] = [];
  #run = "";
  #asking = new AbortController();
  #fault: unknown;

  constructor(order: ExecutionOptions) {
    this.#order = order;
  }

  /** Aborts the run and its command. */
  async abort(reason: string): Promise<void> {
    if (this.#run === "") return this.leave();
    await this.#order.runs.abort(this.#run, reason).catch((thrown: unknown) => {
      // The run has ended meanwhile.
      if (asFault(thrown).code !== "CONFLICT") throw thrown;
    });
  }

  /** Stops watching; the run goes on. */
  leave(): void {
    this.#asking.abort();
    this.#hangUp.abort();
  }

  /** Runs the command and gives how it ended; rejects when the run cannot be started. */
  async carryOut(): Promise<ExecutionResult> {
    const { runs, hand, task, workspace } = this.#order;
    const { run } = await runs.start({ task, agent: DIRECT, hand: hand.id, workspace });
    this.#run = run.id;
    for await (const followed of runs.follow(run.id, 0, this.#hangUp.signal)) {
      if ("entry" in followed) this.#take(followed.entry);
      else if (followed.live.type === "action.output") this.#order.hear(followed.live);
    }
    if (this.#fault !== undefined) throw this.#fault;
    return { run: run.id, ...this.#endOf() };
  }

  #take(entry: Entry): void {
    this.#entries.push(entry);
    this.#asking.abort();
    if (entry.event.type !== "question.asked") return;
    const asking = new AbortController();
    this.#asking = asking;
    this.#answer(entry.event, asking.signal).catch((thrown: unknown) => {
      // The question was closed meanwhile: another client answered, or the run ended.
      if (asking.signal.aborted || asFault(thrown).code === "CONFLICT") return;
      this.#fault ??= thrown;
      this.leave();
    });
  }

  async #answer(question: QuestionAsked, signal: AbortSignal): Promise<void> {
    const answer = await this.#order.answer(question, this.#entries, signal);
    await this.#order.runs.answer(this.#run, { ...answer, question: question.id });
  }

  #endOf(): Omit<ExecutionResult, "run"> {
    const last = this.#entries.at(-1)?.event;
    if (last === undefined || !isTerminal(last) || last.type === "run.aborted") return { exit: EXIT.aborted };
    if (last.type === "run.failed") return { exit: faultRow(last.fault.code).exit, fault: last.fault };
    for (const { event } of this.#entries) {
      if (event.type === "action.failed" || event.type === "action.unknown")
        return { exit: faultRow(event.fault.code).exit, fault: event.fault };
      if (event.type === "action.finished" && event.outcome.kind === "process")
        return { exit: exitOf(event.outcome), outcome: event.outcome };
      if (event.type === "action.finished" && event.outcome.kind === "value")
        return { exit: EXIT.ok, value: event.outcome };
    }
    const fault = new Fault("TOOL_FAILED", "The run ended without having carried the command out.").report();
    return { exit: EXIT.failed, fault };
  }
}

function exitOf({ exitCode, signal, timedOut }: ProcessOutcome): number {
  if (timedOut) return TIMED_OUT;
  if (signal !== null) return BY_SIGNAL + (constants.signals[signal as NodeJS.Signals] ?? 0);
  return exitCode ?? EXIT.failed;
}
