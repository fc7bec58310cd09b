import { Fault, isTerminal } from "@vidro/core";
import type { Entry } from "@vidro/core";
import type { ExecutorPeer } from "@vidro/core/wire/executor-gateway";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";
import type { Runs } from "../../run/runs.ts";
import { Telling } from "./encoder.ts";
import type { OpenQuestion } from "./encoder.ts";

/** What is followed, and for whom. */
export interface Following {
  readonly runs: Runs;
  readonly peer: Pick<ExecutorPeer, "send" | "drained">;
  readonly run: string;
  /** What the executor calls it. */
  readonly task: string;
  /** The last entry that the executor was told of. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Tells an executor its run as it goes. */
export class Follower {
  readonly #following: Following;
  readonly #telling: Telling;
  /** Who waits for the turn of the loop that an action belongs to. */
  readonly #waiting = new Map<string, PromiseWithResolvers<string>>();

  constructor(following: Following) {
    this.#following = following;
    this.#telling = new Telling(following.run, following.task);
  }

  /** The question that waits for an answer. */
  get open(): OpenQuestion | undefined {
    return this.#telling.open;
  }

  /** The turn of the loop that an action of this run belongs to, as soon as the journal shows the action. */
  async generation(action: string): Promise<string> {
    if (this.#telling.action === action) return this.#telling.generation;
    const waiting = this.#waiting.get(action) ?? Promise.withResolvers<string>();
    this.#waiting.set(action, waiting);
    return waiting.promise;
  }

  /** Tells everything up to the end of the run, or until the executor is gone. */
  async follow(): Promise<void> {
    const { runs, peer, run, signal } = this.#following;
    try {
      // From the beginning, since what comes is told in the light of what was; old entries are only taken in.
      for await (const followed of runs.follow(run, 0, signal)) {
        const messages = "live" in followed ? this.#telling.live(followed.live) : await this.#told(followed.entry);
        for (const message of messages) peer.send(message);
        await peer.drained();
      }
    } finally {
      const away = new Fault("HAND_UNAVAILABLE", "The executor is gone.");
      for (const waiting of this.#waiting.values()) waiting.reject(away);
      this.#waiting.clear();
    }
  }

  async #told(entry: Entry): Promise<readonly ExecutorMessage[]> {
    const messages = this.#telling.entry(entry);
    const { action, generation } = this.#telling;
    if (action !== undefined) this.#waiting.get(action)?.resolve(generation);
    if (action !== undefined) this.#waiting.delete(action);
    const isNews = entry.seq > this.#following.after || isTerminal(entry.event);
    if (!isNews && entry.event.type !== "question.asked") return [];
    if (entry.event.type !== "question.asked") return messages;
    // What has its answer already is not asked; what is open is asked again of whoever comes back.
    const { seq } = await this.#following.runs.find(this.#following.run);
    return seq === entry.seq ? messages : [];
  }
}
