import { asFault, FAULTS, isTerminal, TERMINAL_LIMITS } from "@vidro/core";
import type { Entry, QuestionAsked, TerminalEvent } from "@vidro/core";
import { EXIT } from "../program/exit-codes.ts";
import { HelperQuestions } from "./helper-questions.ts";
import { onInterrupt } from "./interrupts.ts";
import type { InterruptTarget, LeaveReason } from "./interrupts.ts";
import { isUnanswered } from "./open-question.ts";
import { absentAnswerer } from "./questions.ts";
import type { Answerer } from "./questions.ts";
import { RunFate } from "./run-fate.ts";
import type { Screen } from "./screen.ts";
import { Vigil } from "./vigil.ts";
import { faultRow, waitForReader, say, sayFault } from "../program/output.ts";
import type { BrainRuns, RunRole } from "../brain-api/brain-api.ts";

/** Which run is watched, from which entry on, where it is shown, and who answers its questions. */
interface WatchOptions {
  readonly runs: BrainRuns;
  readonly run: string;
  readonly after: number;
  readonly screen: Screen;
  readonly answerer: Answerer;
  /** Where the questions of a helper of the run are shown. */
  readonly screenOf: (run: string) => Promise<Screen>;
}

/** Shows a run to its end, drives it when it has no driver, and gives the exit code. */
export async function watchRun(watching: WatchOptions): Promise<number> {
  const watcher = new Watcher(watching);
  const deaf = onInterrupt(watcher);
  try {
    return await watcher.watch();
  } catch (thrown) {
    watching.screen.close();
    const fault = asFault(thrown);
    sayFault(fault.report());
    say(`  the run is left as it is: vidro attach ${watching.run}`);
    return FAULTS[fault.code].exit;
  } finally {
    deaf();
    watching.screen.close();
  }
}

/** Why a run that is left goes on without this process. */
const GOES_ON = { partner: "the brain goes on with it", onlooker: "another process drives it and goes on" } as const;
/** Notes for a question that is not asked here; a driver asks every question. */
const ASKED_ELSEWHERE = {
  driver: "",
  partner: "This run waits for an answer: give it on a terminal with vidro attach.",
  onlooker: "Another process drives this run: it is asked there.",
} as const;

class Watcher implements InterruptTarget {
  readonly #watching: WatchOptions;
  #cursor: number;
  #role: RunRole = "onlooker";
  /** Ends the current round of following. */
  #hangUp = new AbortController();
  /** The question that waits for an answer, and how to stop asking. */
  #open: QuestionAsked | undefined;
  #asking: AbortController | undefined;
  #leaving: LeaveReason | undefined;
  #fault: unknown;
  readonly #fate = new RunFate();
  /** Ids of the hands of the run, with commas. */
  #hands = "";
  readonly #helpers: HelperQuestions;

  constructor(watching: WatchOptions) {
    this.#watching = watching;
    this.#cursor = watching.after;
    this.#helpers = new HelperQuestions(watching, () => this.#answers);
  }

  async watch(): Promise<number> {
    const { runs, run, screen, answerer } = this.#watching;
    let last: Entry | undefined;
    for await (const entry of runs.entries(run, this.#cursor)) {
      this.#take(entry);
      screen.recall((last = entry));
    }
    if (last !== undefined && isTerminal(last.event)) return this.#over(last.event);
    // A cursor beyond the last entry means: from now on.
    this.#cursor = last?.seq ?? 0;
    this.#open = await this.#askedBefore(last);
    for (;;) {
      this.#role = await runs.join(run);
      if (this.#answers && this.#open !== undefined) {
        await answerer.ready();
        screen.remind(this.#open);
        this.#ask(this.#open);
      }
      this.#hangUp = new AbortController();
      const end = await this.#follow(this.#hangUp.signal);
      if (this.#fault !== undefined) throw this.#fault;
      if (end !== undefined) return this.#over(end);
      if (this.#leaving !== undefined) return this.#leave(this.#leaving);
    }
  }

  /** Gathers what the watcher itself has to know of a run. */
  #take({ event }: Entry): void {
    this.#fate.take(event);
    this.#helpers.take(event);
    if (event.type === "run.started") this.#hands = event.hand;
  }

  /** The open question, if it is the entry at the cursor: it was shown before and still needs an answer. */
  async #askedBefore(last: Entry | undefined): Promise<QuestionAsked | undefined> {
    if (last?.event.type !== "question.asked") return undefined;
    const { seq } = await this.#watching.runs.find(this.#watching.run);
    return seq === last.seq ? last.event : undefined;
  }

  /** Whether questions are answered here; without a person, only those of runs that this process drives. */
  get #answers(): boolean {
    return this.#role === "driver" || (this.#role === "partner" && this.#watching.answerer !== absentAnswerer);
  }

  abort(): void {
    if (this.#role !== "driver") return this.leave({ exit: EXIT.aborted, because: GOES_ON[this.#role] });
    this.#say("Aborting the run. Ctrl-C again leaves it open instead.");
    this.#watching.runs.abort(this.#watching.run, "Ctrl-C").catch((thrown: unknown) => {
      // CONFLICT: the run has ended meanwhile.
      if (asFault(thrown).code !== "CONFLICT") this.#break(thrown);
    });
  }

  leave(leaving: LeaveReason): void {
    this.#helpers.end();
    this.#leaving ??= leaving;
    this.#asking?.abort();
    this.#hangUp.abort();
  }

  /** Shows entries and live events until the run ends or the signal fires. */
  async #follow(signal: AbortSignal): Promise<TerminalEvent | undefined> {
    const { runs, run, screen } = this.#watching;
    const looking =
      this.#role === "onlooker" ? setInterval(() => void this.#lookForDeath(), TERMINAL_LIMITS.takeOverMs) : undefined;
    if (this.#leaving !== undefined) this.#hangUp.abort();
    const vigil = new Vigil(this.#watching, () => this.#hands);
    try {
      this.#helpers.open();
      for await (const followed of runs.follow(run, this.#cursor, signal)) {
        await waitForReader(signal);
        if ("live" in followed) screen.live(followed.live);
        else {
          const { entry } = followed;
          this.#take(entry);
          if (!isTerminal(entry.event)) {
            await this.#show(entry);
            this.#helpers.open();
          } else {
            screen.entry(entry);
            return entry.event;
          }
        }
      }
      return undefined;
    } finally {
      clearInterval(looking);
      vigil.end();
    }
  }

  async #show(entry: Entry): Promise<void> {
    const { screen, answerer } = this.#watching;
    this.#cursor = entry.seq;
    // A remark does not answer the question that is open.
    if (entry.event.type === "remark.made" && this.#open !== undefined) {
      screen.entry(entry);
      return screen.releaseTerminal();
    }
    this.#asking?.abort();
    this.#open = undefined;
    if (entry.event.type !== "question.asked") return screen.entry(entry);
    // A question that was answered already is only shown.
    const { runs, run } = this.#watching;
    const isOpen = await isUnanswered(runs, run, entry.seq);
    if (isOpen && this.#answers) await answerer.ready();
    screen.entry(entry);
    if (!isOpen) return;
    this.#open = entry.event;
    if (this.#answers) this.#ask(entry.event);
    else this.#say(ASKED_ELSEWHERE[this.#role]);
  }

  #ask(question: QuestionAsked): void {
    const asking = new AbortController();
    this.#asking = asking;
    this.#watching.screen.releaseTerminal();
    this.#answer(question, asking.signal).catch((thrown: unknown) => {
      // The question was closed meanwhile: another client answered, or the run ended.
      if (asking.signal.aborted || asFault(thrown).code === "CONFLICT") return;
      this.#break(thrown);
    });
  }

  async #answer(question: QuestionAsked, signal: AbortSignal): Promise<void> {
    const { runs, run, answerer } = this.#watching;
    const answer = await answerer.answer(question, signal, () => runs.always(run));
    await runs.answer(run, { ...answer, question: question.id });
  }

  async #lookForDeath(): Promise<void> {
    try {
      if ((await this.#watching.runs.join(this.#watching.run)) !== "onlooker") this.#hangUp.abort();
    } catch (thrown) {
      this.#break(thrown);
    }
  }

  /** Prints a note for people, outside of the rows that are redrawn. */
  #say(words: string): void {
    this.#watching.screen.releaseTerminal();
    say(words);
  }

  #break(thrown: unknown): void {
    this.#fault ??= thrown;
    this.#hangUp.abort();
  }

  #over(end: TerminalEvent): number {
    this.#helpers.end();
    this.#asking?.abort();
    this.#watching.screen.close();
    if (end.type === "run.failed") sayFault(end.fault);
    const exit = this.#fate.exit(end);
    const { refusal } = this.#fate;
    if (end.type === "run.finished" && exit !== EXIT.ok && refusal !== undefined)
      say(`  next: ${faultRow(refusal.code).next}`);
    return exit;
  }

  async #leave({ exit, because }: LeaveReason): Promise<number> {
    const { runs, run, screen } = this.#watching;
    screen.close();
    await runs.detach();
    const { status } = await runs.find(run);
    const open = status === "running" || status === "asking";
    if (open) say(`vidro: the run is left open (${because}).`, `  next: vidro attach ${run}`);
    else say(`vidro: the run is ${status}.`);
    return exit;
  }
}
