import type { Brain } from "@vidro/brain";
import { asFault, Fault, FAULTS, isTerminal, TERMINAL } from "@vidro/core";
import type { Entry, QuestionAsked, TerminalEvent } from "@vidro/core";
import { entriesOf } from "./entries.ts";
import { EXIT } from "./exit.ts";
import { onInterrupt } from "./interrupts.ts";
import type { Interrupted, Leaving } from "./interrupts.ts";
import type { Answerer } from "./questions.ts";
import type { Screen } from "./screen.ts";
import { say, sayFault } from "./tell.ts";

/** What is watched, from which entry on, where, and by whom. */
export interface Watching {
  readonly brain: Brain;
  readonly run: string;
  readonly after: number;
  readonly screen: Screen;
  readonly answerer: Answerer;
}

/** Shows a run to its end, drives it when nobody else does, and gives the code to exit with. */
export async function watch(watching: Watching): Promise<number> {
  const watcher = new Watcher(watching);
  const deaf = onInterrupt(watcher);
  try {
    return await watcher.watch();
  } catch (thrown) {
    watching.screen.close();
    const fault = asFault(thrown);
    sayFault(fault.report(), `${FAULTS[fault.code].next}\n  the run is left as it is: vidro attach ${watching.run}`);
    return FAULTS[fault.code].exit;
  } finally {
    deaf();
    watching.screen.close();
  }
}

class Watcher implements Interrupted {
  readonly #watching: Watching;
  #cursor: number;
  /** Whether this process drives the run; else another one does, and this one only looks on. */
  #drives = false;
  /** Ends the current round of following. */
  #hangUp = new AbortController();
  /** The question that waits for an answer, and how to stop asking. */
  #open: QuestionAsked | undefined;
  #asking: AbortController | undefined;
  #leaving: Leaving | undefined;
  #fault: unknown;

  constructor(watching: Watching) {
    this.#watching = watching;
    this.#cursor = watching.after;
  }

  async watch(): Promise<number> {
    const { brain, run, screen, answerer } = this.#watching;
    for await (const entry of entriesOf(brain.journal, run, this.#cursor)) screen.recall(entry);
    this.#open = await this.#askedBefore();
    for (;;) {
      this.#drives = await this.#takeOver();
      if (this.#drives && this.#open !== undefined) {
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

  /** The open question that lies behind the cursor: it is no news, but it still wants its answer. */
  async #askedBefore(): Promise<QuestionAsked | undefined> {
    const { brain, run, after } = this.#watching;
    const { status, seq } = await brain.runs.find(run);
    if (status !== "asking" || seq > after) return undefined;
    const [last] = await brain.journal.read(run, seq - 1, 1);
    return last?.event.type === "question.asked" ? last.event : undefined;
  }

  abort(): void {
    if (!this.#drives) return this.leave({ exit: EXIT.aborted, because: "another process drives it and goes on" });
    this.#say("Aborting the run. Ctrl-C again leaves it open instead.");
    this.#watching.brain.runs.abort(this.#watching.run, "Ctrl-C").catch((thrown: unknown) => {
      // CONFLICT: it ended by itself in the meantime.
      if (asFault(thrown).code !== "CONFLICT") this.#break(thrown);
    });
  }

  leave(leaving: Leaving): void {
    this.#leaving ??= leaving;
    this.#asking?.abort();
    this.#hangUp.abort();
  }

  /** Shows what comes until the run is over or this round ends. */
  async #follow(signal: AbortSignal): Promise<TerminalEvent | undefined> {
    const { brain, run, screen } = this.#watching;
    const looking = this.#drives ? undefined : setInterval(() => void this.#lookForDeath(), TERMINAL.takeOverMs);
    if (this.#leaving !== undefined) this.#hangUp.abort();
    try {
      for await (const followed of brain.runs.follow(run, this.#cursor, signal)) {
        if ("live" in followed) screen.live(followed.live);
        else if (isTerminal(followed.entry.event)) {
          screen.entry(followed.entry);
          return followed.entry.event;
        } else await this.#show(followed.entry);
      }
      return undefined;
    } finally {
      clearInterval(looking);
    }
  }

  async #show(entry: Entry): Promise<void> {
    const { screen, answerer, brain, run } = this.#watching;
    this.#cursor = entry.seq;
    this.#asking?.abort();
    this.#open = undefined;
    if (entry.event.type !== "question.asked") return screen.entry(entry);
    // What was asked and answered long ago is only told.
    const isOpen = (await brain.runs.find(run)).seq === entry.seq;
    if (isOpen && this.#drives) await answerer.ready();
    screen.entry(entry);
    if (!isOpen) return;
    this.#open = entry.event;
    if (this.#drives) this.#ask(entry.event);
    else this.#say("Another process drives this run: it is asked there.");
  }

  #ask(question: QuestionAsked): void {
    const asking = new AbortController();
    this.#asking = asking;
    this.#watching.screen.rest();
    this.#answer(question, asking.signal).catch((thrown: unknown) => {
      // Closed while it was being asked: somebody else answered, or the run ended.
      if (asking.signal.aborted || asFault(thrown).code === "CONFLICT") return;
      this.#break(thrown);
    });
  }

  async #answer(question: QuestionAsked, signal: AbortSignal): Promise<void> {
    const { brain, run, answerer } = this.#watching;
    const answer = await answerer.answer(question, signal);
    await brain.runs.answer(run, { ...answer, question: question.id });
  }

  /** Whether this process drives the run from now on. */
  async #takeOver(): Promise<boolean> {
    try {
      await this.#watching.brain.runs.resume(this.#watching.run);
      return true;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "RUN_BUSY") return false;
      throw thrown;
    }
  }

  async #lookForDeath(): Promise<void> {
    try {
      if (await this.#takeOver()) this.#hangUp.abort();
    } catch (thrown) {
      this.#break(thrown);
    }
  }

  /** Words for people, which must not land among lines that are drawn again and again. */
  #say(words: string): void {
    this.#watching.screen.rest();
    say(words);
  }

  #break(thrown: unknown): void {
    this.#fault ??= thrown;
    this.#hangUp.abort();
  }

  #over(end: TerminalEvent): number {
    this.#asking?.abort();
    this.#watching.screen.close();
    if (end.type === "run.failed") sayFault(end.fault);
    return exitAfter(end);
  }

  async #leave({ exit, because }: Leaving): Promise<number> {
    const { brain, run, screen } = this.#watching;
    screen.close();
    await brain.runs.close();
    const { status } = await brain.runs.find(run);
    const open = status === "running" || status === "asking";
    say(
      open ? `vidro: the run is left open (${because}).\n  next: vidro attach ${run}` : `vidro: the run is ${status}.`,
    );
    return exit;
  }
}

/** What a command that showed a run to its end exits with. */
function exitAfter(end: TerminalEvent): number {
  if (end.type === "run.failed") return FAULTS[end.fault.code].exit;
  return end.type === "run.finished" ? EXIT.ok : EXIT.aborted;
}
