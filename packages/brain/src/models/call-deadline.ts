import { Fault } from "@vidro/core";

/** Longest silences of a call. */
export interface CallDeadlines {
  /** Until the first part of an answer. */
  readonly firstTokenMs: number;
  /** Between two parts. */
  readonly betweenTokensMs: number;
}

/** Ends one call when it is aborted or the server is silent for too long; only time spent waiting counts. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #patience: CallDeadlines;
  #timer: NodeJS.Timeout;
  #begun = false;
  #fault: Fault | undefined;
  #interrupt: ((fault: Fault) => void) | undefined;

  constructor(caller: AbortSignal, patience: CallDeadlines) {
    this.#caller = caller;
    this.#patience = patience;
    this.#timer = this.#alarm(patience.firstTokenMs);
    if (caller.aborted) this.#onAbort();
    else caller.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Aborted when the call is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of `work`, or a rejection with the fault that ended the call first. */
  async wait<T>(work: PromiseLike<T>): Promise<T> {
    // One promise for each wait: a shared one would keep the callbacks of every race.
    const { promise, reject } = Promise.withResolvers<never>();
    this.#interrupt = reject;
    if (this.#begun) this.#timer.refresh();
    if (this.#fault !== undefined) reject(this.#fault);
    try {
      return await Promise.race([work, promise]);
    } catch (thrown) {
      // An abort makes the work fail too, with a less precise error than the fault.
      throw this.#fault ?? thrown;
    } finally {
      this.#interrupt = undefined;
    }
  }

  /** Called when a part of the answer arrived. */
  sign(): void {
    if (this.#begun) return;
    this.#begun = true;
    clearTimeout(this.#timer);
    this.#timer = this.#alarm(this.#patience.betweenTokensMs);
  }

  /** Ends the call and aborts what is still under way for it. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  readonly #onAbort = (): void => this.#stop(new Fault("MODEL_CUT", "The call was aborted."));

  #alarm(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#interrupt !== undefined) this.#stop(new Fault("MODEL_TIMEOUT", `The model was silent for ${ms} ms.`));
    }, ms);
  }

  #stop(fault: Fault): void {
    this.#fault = fault;
    this.#interrupt?.(fault);
    this.#controller.abort();
  }
}
