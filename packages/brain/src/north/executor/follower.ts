import { Fault, isTerminal } from "@vidro/core";
import type { Entry } from "@vidro/core";
import type { ExecutorPeer } from "@vidro/core/wire/executor-gateway";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";
import type { Runs } from "../../run/runs.ts";
import { ExecutorEncoder } from "./encoder.ts";
import type { ExecutorQuestion } from "./encoder.ts";

/** The run to follow, and the executor that is shown it. */
interface FollowerOptions {
  readonly runs: Runs;
  readonly peer: Pick<ExecutorPeer, "send" | "whenDrained">;
  readonly run: string;
  /** The name of the run in messages: the executor's own name of its task, or the run's id. */
  readonly task: string;
  /** The `seq` of the last entry that the executor has received. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Sends an executor the messages of its run as the journal grows. */
export class ExecutorFollower {
  readonly #options: FollowerOptions;
  readonly #encoder: ExecutorEncoder;
  /** Pending calls of generation(), by action. */
  readonly #waiting = new Map<string, PromiseWithResolvers<string>>();
  #isOver = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#encoder = new ExecutorEncoder(options.run, options.task);
  }

  /** The question that waits for an answer. */
  get openQuestion(): ExecutorQuestion | undefined {
    return this.#encoder.openQuestion;
  }

  /**
   * The id of the step that an action of this run belongs to; resolves as soon as the journal has the action, and rejects
   * with HAND_UNAVAILABLE when the run is not followed any more.
   */
  async generation(action: string): Promise<string> {
    if (this.#encoder.action === action) return this.#encoder.generation;
    if (this.#isOver) throw goneFault();
    const waiting = this.#waiting.get(action) ?? Promise.withResolvers<string>();
    this.#waiting.set(action, waiting);
    return waiting.promise;
  }

  /** Sends everything up to the end of the run, or until the signal is aborted. */
  async follow(): Promise<void> {
    const { runs, peer, run, signal } = this.#options;
    try {
      // From the beginning, since messages refer to earlier entries; entries that the executor has are not sent again.
      for await (const followed of runs.follow(run, 0, signal)) {
        const messages =
          "live" in followed ? this.#encoder.encodeLive(followed.live) : await this.#messagesOf(followed.entry);
        for (const message of messages) peer.send(message);
        await peer.whenDrained();
      }
    } finally {
      this.#isOver = true;
      for (const waiting of this.#waiting.values()) waiting.reject(goneFault());
      this.#waiting.clear();
    }
  }

  async #messagesOf(entry: Entry): Promise<readonly ExecutorMessage[]> {
    const messages = this.#encoder.encode(entry);
    const { action, generation } = this.#encoder;
    if (action !== undefined) this.#waiting.get(action)?.resolve(generation);
    if (action !== undefined) this.#waiting.delete(action);
    const isNews = entry.seq > this.#options.after || isTerminal(entry.event);
    if (!isNews && entry.event.type !== "question.asked") return [];
    if (entry.event.type !== "question.asked") return messages;
    // A question that has its answer is not sent; an open one is sent again to an executor that reconnects.
    const { seq } = await this.#options.runs.find(this.#options.run);
    return seq === entry.seq ? messages : [];
  }
}

function goneFault(): Fault {
  return new Fault("HAND_UNAVAILABLE", "The executor is gone.");
}
