import { isTerminal } from "@vidro/core";
import type { Json, JsonObject, RunHead, TerminalEvent } from "@vidro/core";
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
  /** Id of the question; the open one when absent. */
  readonly question?: string;
  /** With a yes to a plan: fields of the action's input that run instead of the model's; `null` leaves a field out. */
  readonly input?: JsonObject;
}

/** How a fork differs from its run. */
export interface ForkOptions {
  /** The entry up to which the runs are the same; the last one when absent. */
  readonly at?: number;
  /** Words that the model is told next. */
  readonly text?: string;
  /** A task in the place of the run's own: the new run begins where the run began. */
  readonly task?: string;
  readonly model?: string;
  /** Idempotency key: a second fork with the same key gives the first run. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** The rule that the answer "yes, always" would add, and the earlier actions that it would have allowed. */
export interface AlwaysRecord {
  readonly question: string;
  readonly hand: string;
  readonly rule: JsonObject;
  /** Newest first; a brain shows some of them and counts the others. */
  readonly past: readonly {
    readonly run: string;
    readonly seq: number;
    readonly at: number;
    readonly task: string;
    readonly answer?: string;
  }[];
  readonly count: number;
  readonly searchedRuns: number;
}

/**
 * One run on the brain; it goes on whether it is followed or not. `for await` gives its events from the first to the
 * terminal one, across lost connections.
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

  /** The events after entry `after`, or from the beginning. */
  async *events(options: FollowOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    for await (const item of this.follow(options)) yield runEventOf(item);
  }

  /** The same as entries of the journal with live events in between. */
  async *follow(options: FollowOptions = {}): AsyncGenerator<RunStreamItem, void, undefined> {
    for await (const item of readRunStream(this.#brain, this.id, this.#withSignal(options))) {
      if ("entry" in item) {
        this.#seen = Math.max(this.#seen, item.entry.seq);
        if (isTerminal(item.entry.event)) this.#end = item.entry.event;
      }
      yield item;
    }
  }

  /** Waits for the answer to the task; rejects with the error of a run that failed or was aborted. */
  async result(options: { readonly signal?: AbortSignal } = {}): Promise<Json> {
    const end = this.#end ?? (await this.#last(options));
    if (end.type === "run.finished") return end.result;
    if (end.type === "run.aborted") throw new VidroError("ABORTED", end.reason);
    throw new VidroError(end.fault.code, end.fault.message);
  }

  /** Answers the question that the run waits for; CONFLICT when it is answered already. */
  async answer(answer: string | RunAnswer, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { text, question, input } = typeof answer === "string" ? { text: answer } : answer;
    const body = {
      answer: text,
      ...(question === undefined ? {} : { question }),
      ...(input === undefined ? {} : { input }),
    };
    await this.#brain.request({ method: "POST", path: `${this.#path}/answers`, body, ...this.#withSignal(options) });
  }

  /** Starts a run with the prompt of this one up to an entry; nothing that was done is done again. */
  async fork(options: ForkOptions = {}): Promise<RunHead> {
    const { key, signal, ...about } = options;
    const path = `${this.#path}/fork`;
    const body = { ...about } as JsonObject;
    const named = key === undefined ? {} : { key };
    const how = this.#withSignal(signal === undefined ? {} : { signal });
    return runHeadOf(await this.#brain.requestJson({ method: "POST", path, body, ...named, ...how }));
  }

  /** The rule that the answer "yes, always" would add; CONFLICT when no approval is open, or none can be added for it. */
  async always(options: { readonly signal?: AbortSignal } = {}): Promise<AlwaysRecord> {
    const path = `${this.#path}/always`;
    const json = await this.#brain.requestJson({ method: "GET", path, ...this.#withSignal(options) });
    return json as unknown as AlwaysRecord;
  }

  /**
   * Says something to the run while it works; the model is told with its next step. The same text under the same key is
   * recorded once. CONFLICT when the run is over.
   */
  async say(text: string, options: { readonly key?: string; readonly signal?: AbortSignal } = {}): Promise<void> {
    const { key } = options;
    const named = key === undefined ? {} : { key };
    const path = `${this.#path}/messages`;
    await this.#brain.request({ method: "POST", path, body: { text }, ...named, ...this.#withSignal(options) });
  }

  /** Makes the brain drive a run that has no driver; RUN_BUSY when another process drives it. */
  async resume(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#brain.request({ method: "POST", path: `${this.#path}/resume`, body: {}, ...this.#withSignal(options) });
  }

  /** Stops the run and its action; resolves when it has ended, CONFLICT when it had ended before. */
  async abort(reason?: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const body = reason === undefined ? {} : { reason };
    await this.#brain.request({ method: "POST", path: `${this.#path}/abort`, body, ...this.#withSignal(options) });
  }

  /** The status of the run. */
  async head(options: { readonly signal?: AbortSignal } = {}): Promise<RunHead> {
    return runHeadOf(await this.#brain.requestJson({ method: "GET", path: this.#path, ...this.#withSignal(options) }));
  }

  get #path(): string {
    return `v1/runs/${encodeURIComponent(this.id)}`;
  }

  async #last(options: { readonly signal?: AbortSignal }): Promise<TerminalEvent> {
    // Resumes after the last seen entry: the terminal entry is not among the seen ones.
    for await (const _ of this.follow({ ...options, after: this.#seen, live: false }))
      if (this.#end !== undefined) return this.#end;
    throw new VidroError("CONNECTION_LOST", `The stream of ${this.id} ended before the run did.`);
  }

  /** Options with the signal of the call, or else that of the run. */
  #withSignal<Options extends { readonly signal?: AbortSignal }>(options: Options): Options {
    return this.#signal === undefined ? options : { signal: this.#signal, ...options };
  }
}
