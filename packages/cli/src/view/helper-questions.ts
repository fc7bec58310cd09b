import { setTimeout as sleep } from "node:timers/promises";
import { asFault, DELEGATE, TERMINAL_LIMITS } from "@vidro/core";
import type { Entry, Event } from "@vidro/core";
import { SHORT_ID_CHARS } from "@vidro/core/text";
import type { BrainRuns } from "../brain-api/brain-api.ts";
import { isUnanswered } from "./open-question.ts";
import type { Answerer } from "./questions.ts";
import type { Screen } from "./screen.ts";

/** What a watcher of a run has for the helpers of that run. */
interface HelperWatching {
  readonly runs: Pick<BrainRuns, "follow" | "find" | "entries" | "answer" | "always">;
  readonly screen: Pick<Screen, "notice" | "releaseTerminal" | "goOn">;
  readonly answerer: Answerer;
  /** Where the questions of a helper are shown. */
  readonly screenOf: (run: string) => Promise<Screen>;
}

/** The events of a helper that its questions refer to. */
const SHOWN: ReadonlySet<Event["type"]> = new Set(["model.replied", "policy.judged", "question.asked"]);

/** Asks the questions of a run's helpers where the run is watched: each in turn, and those of their own helpers, too. */
export class HelperQuestions {
  readonly #watching: HelperWatching;
  /** Whether questions are answered here. */
  readonly #answers: () => boolean;
  /** Helpers of the action that was judged last. */
  #named: string[] = [];
  #following: AbortController | undefined;
  /** One question at a time. */
  #turn: Promise<void> = Promise.resolve();

  constructor(watching: HelperWatching, answers: () => boolean) {
    this.#watching = watching;
    this.#answers = answers;
  }

  /** Takes in an event of the run. */
  take(event: Event): void {
    if (event.type === "policy.judged") this.#named = helpersIn(event);
    else if (event.type === "action.started" && event.action.tool === DELEGATE)
      this.#following ??= new AbortController();
    else if (event.type === "action.finished" || event.type === "action.failed" || event.type === "action.unknown")
      this.end();
  }

  /** Follows the helpers of the action under way, if there is one that has any. */
  open(): void {
    const signal = this.#following?.signal;
    if (signal === undefined) return;
    for (const run of this.#named.splice(0)) void this.#follow(run, signal);
  }

  /** Asks nothing more. */
  end(): void {
    this.#following?.abort();
    this.#following = undefined;
    this.#named = [];
  }

  async #follow(run: string, signal: AbortSignal): Promise<void> {
    const { runs, screenOf } = this.#watching;
    const screen = await screenOf(run);
    let asking: AbortController | undefined;
    let after = 0;
    while (!signal.aborted) {
      try {
        for await (const item of runs.follow(run, after, signal)) {
          if (!("entry" in item)) continue;
          const { entry } = item;
          after = entry.seq;
          // A remark does not answer the question that is open.
          if (entry.event.type === "remark.made") continue;
          asking?.abort();
          if (entry.event.type === "policy.judged")
            for (const below of helpersIn(entry.event)) void this.#follow(below, signal);
          if (entry.event.type !== "question.asked") {
            if (SHOWN.has(entry.event.type)) screen.recall(entry);
            continue;
          }
          asking = new AbortController();
          const ends = AbortSignal.any([asking.signal, signal]);
          this.#turn = this.#turn.then(() => this.#ask({ run, entry, screen }, ends)).catch(() => undefined);
        }
        return;
      } catch (thrown) {
        // A helper is named before it exists.
        if (asFault(thrown).code !== "NOT_FOUND") return;
        await sleep(TERMINAL_LIMITS.spinnerMs);
      }
    }
  }

  async #ask(
    { run, entry, screen }: { readonly run: string; readonly entry: Entry; readonly screen: Screen },
    signal: AbortSignal,
  ): Promise<void> {
    const { runs, answerer, screen: parent } = this.#watching;
    const { event } = entry;
    const isOpen = !signal.aborted && (await isUnanswered(runs, run, entry.seq));
    if (event.type !== "question.asked" || !isOpen || !this.#answers()) return;
    await answerer.ready();
    parent.notice(`helper ${run.slice(-SHORT_ID_CHARS)} asks:`);
    parent.releaseTerminal();
    screen.entry(entry);
    try {
      const answer = await answerer.answer(event, signal, () => runs.always(run));
      await runs.answer(run, { ...answer, question: event.id });
    } finally {
      parent.goOn();
    }
  }
}

/** Lines that tell of helpers, with the last characters of their ids, as in lists of runs. */
export function withShortIds(text: string): string {
  return text.replaceAll(/^run_[\da-f-]{28}([\da-f]{8}): /gm, "$1: ");
}

function helpersIn({ plan }: Extract<Event, { type: "policy.judged" }>): string[] {
  return plan.kind === "order" ? [...(plan.runs ?? [])] : [];
}
