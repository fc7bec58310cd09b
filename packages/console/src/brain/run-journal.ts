import { useEffect, useState, useSyncExternalStore } from "react";
import { CONSOLE_LIMITS, isTerminal } from "@vidro/core";
import type { Entry, LiveEvent } from "@vidro/core";
import { reduce } from "@vidro/core/run";
import type { RunState } from "@vidro/core/run";
import { foldConversation, NO_ITEMS } from "../run/conversation.ts";
import type { RunConversation } from "../run/conversation.ts";
import { foldTimeline, NO_SPANS } from "../run/timeline.ts";
import type { Timeline } from "../run/timeline.ts";
import { faultWords, isAway, isSignedOut, vidro } from "./connection.ts";
import { brainBack, setPresence } from "./presence.ts";

/** A run as the page has it: its journal so far, and the three folds of it. */
export interface RunView {
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly state: RunState | undefined;
  readonly conversation: RunConversation;
  readonly timeline: Timeline;
  /** What is only live: what the model thinks, the reply that it is writing, and the output of the action under way. */
  readonly thinking: string;
  readonly reply: string;
  readonly output: string;
  readonly fault: string | undefined;
}

/** Follows a run from its first entry to its end, across restarts of the brain, and folds each entry once. */
export class RunJournal {
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #entries: Entry[] = [];
  #view: RunView;
  #isDue = false;
  /** How many characters of the reply and of its thinking came; behind a piece that is missing no more is shown. */
  #heard = { reply: 0, thinking: 0 };

  constructor(id: string) {
    this.#view = {
      id,
      entries: [],
      state: undefined,
      conversation: NO_ITEMS,
      timeline: NO_SPANS,
      reply: "",
      thinking: "",
      output: "",
      fault: undefined,
    };
    void this.#follow();
  }

  readonly view = (): RunView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  close(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const after = this.#entries.length;
        let begunAt = performance.now();
        for await (const item of vidro.attach(this.#view.id).follow({ after, signal })) {
          if ("entry" in item) this.#add(item.entry);
          else this.#show(item.live);
          if (performance.now() - begunAt < CONSOLE_LIMITS.foldMs) continue;
          await shownFrame();
          begunAt = performance.now();
        }
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        if (isSignedOut(thrown)) return setPresence("signed-out");
        if (!isAway(thrown)) return this.#change({ fault: faultWords(thrown) });
        await brainBack();
      }
    }
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    const { conversation, timeline, state } = this.#view;
    const isReply = entry.event.type.startsWith("model.");
    if (isReply) this.#heard = { reply: 0, thinking: 0 };
    this.#change({
      state: reduce(state, entry),
      conversation: foldConversation(conversation, entry),
      timeline: foldTimeline(timeline, entry),
      ...(isReply ? { reply: "", thinking: "" } : {}),
      ...(entry.event.type.startsWith("action.") || isTerminal(entry.event) ? { output: "" } : {}),
    });
  }

  #show(live: LiveEvent): void {
    if (live.type === "action.output")
      return this.#change({ output: (this.#view.output + live.chunk).slice(-CONSOLE_LIMITS.blockChars) });
    const name = live.type === "model.thinking" ? "thinking" : "reply";
    if (live.from !== this.#heard[name]) return;
    this.#heard[name] += live.text.length;
    this.#change({ [name]: (this.#view[name] + live.text).slice(-CONSOLE_LIMITS.blockChars) });
  }

  /** Changes the view, and tells the page at most once a frame. */
  #change(change: Partial<RunView>): void {
    this.#view = { ...this.#view, ...change };
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#view = { ...this.#view, entries: this.#entries.slice() };
      for (const listener of this.#listeners) listener();
    });
  }
}

/** Lets the browser draw, and take clicks, between two parts of a long journal. */
function shownFrame(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** A run and all that happens in it, as long as the page shows it. */
export function useRun(id: string): RunView {
  const [journal, setJournal] = useState(() => new RunJournal(id));
  useEffect(() => {
    const opened = journal.view().id === id ? journal : new RunJournal(id);
    if (opened !== journal) setJournal(opened);
    return () => opened.close();
  }, [id]);
  return useSyncExternalStore(journal.subscribe, journal.view);
}
