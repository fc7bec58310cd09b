import { isTerminal } from "@vidro/core";
import type { Json, RunHead, TerminalEvent } from "@vidro/core";
import { readRunStream } from "./run-stream.ts";
import type { FollowOptions } from "./run-stream.ts";
import { runEventOf } from "./run-stream-item.ts";
import type { RunStreamItem, RunEvent } from "./run-stream-item.ts";
import type { BrainConnection } from "./brain-connection.ts";
import { VidroError } from "./vidro-error.ts";
import { runHeadOf } from "./records.ts";

/** An answer to a question of a run. */
export interface RunAnswer {
  readonly text: string;
  /** The question that is meant; the one that is open when it is left out. */
  readonly question?: string;
}

/**
 * One run on the brain, which goes on whether it is watched or not. `for await` gives what happens from the first
 * event to the terminal one, across lost connections.
 */
export class Run implements AsyncIterable<RunEvent> {
  readonly id: string;
  readonly #brain: BrainConnection;
  readonly #signal: AbortSignal | undefined;
  #seen = 0;
  #end: TerminalEvent | undefined;

  constructor(brain: BrainConnection, id: string, signal?: AbortSignal) {
    this.#brain = brain;
    this.id = id;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    return this.events();
  }

  /** What happens after entry `after`, or from the beginning. */
  async *events(options: FollowOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    for await (const item of this.follow(options)) yield runEventOf(item);
  }

  /** The same as the journal has it: entries, and live events between them. */
  async *follow(options: FollowOptions = {}): AsyncGenerator<RunStreamItem, void, undefined> {
    for await (const item of readRunStream(this.#brain, this.id, this.#withSignal(options))) {
      if ("entry" in item) {
        this.#seen = Math.max(this.#seen, item.entry.seq);
        if (isTerminal(item.entry.event)) this.#end = item.entry.event;
      }
      yield item;
    }
  }

  /** The answer to the task, when the run has one; a run that failed or was aborted rejects with its error. */
  async result(options: { readonly signal?: AbortSignal } = {}): Promise<Json> {
    const end = this.#end ?? (await this.#last(options));
    if (end.type === "run.finished") return end.result;
    if (end.type === "run.aborted") throw new VidroError("ABORTED", end.reason);
    throw new VidroError(end.fault.code, end.fault.message);
  }

  /** Answers the question that the run waits for; CONFLICT when somebody else has answered it. */
  async answer(answer: string | RunAnswer, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { text, question } = typeof answer === "string" ? { text: answer } : answer;
    const body = { answer: text, ...(question === undefined ? {} : { question }) };
    await this.#brain.request({ method: "POST", path: `${this.#path}/answers`, body, ...this.#withSignal(options) });
  }

  /** Has the brain go on with a run that nobody drives; RUN_BUSY when a process that is not this brain drives it. */
  async resume(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#brain.request({ method: "POST", path: `${this.#path}/resume`, body: {}, ...this.#withSignal(options) });
  }

  /** Ends the run and everything it is doing; resolves when it is over, CONFLICT when it was over before. */
  async abort(reason?: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const body = reason === undefined ? {} : { reason };
    await this.#brain.request({ method: "POST", path: `${this.#path}/abort`, body, ...this.#withSignal(options) });
  }

  /** Where the run stands. */
  async head(options: { readonly signal?: AbortSignal } = {}): Promise<RunHead> {
    return runHeadOf(await this.#brain.requestJson({ method: "GET", path: this.#path, ...this.#withSignal(options) }));
  }

  get #path(): string {
    return `v1/runs/${encodeURIComponent(this.id)}`;
  }

  async #last(options: { readonly signal?: AbortSignal }): Promise<TerminalEvent> {
    // What was seen need not come again; the terminal event was not seen, so it is still to come.
    for await (const _ of this.follow({ ...options, after: this.#seen, live: false }))
      if (this.#end !== undefined) return this.#end;
    throw new VidroError("CONNECTION_LOST", `The stream of ${this.id} ended before the run did.`);
  }

  /** The signal of one call, else the one that the run was made with. */
  #withSignal<Options extends { readonly signal?: AbortSignal }>(options: Options): Options {
    return this.#signal === undefined ? options : { signal: this.#signal, ...options };
  }
}
