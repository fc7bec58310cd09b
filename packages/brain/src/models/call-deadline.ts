import { Fault } from "@vidro/core";

/** How long a call may be silent. */
export interface CallDeadlines {
  /** Until the first sign of an answer. */
  readonly firstTokenMs: number;
  /** Between two signs. */
  readonly betweenTokensMs: number;
}

/** Ends one call when its asker aborts it or the other side is silent for too long; only waiting counts as silence. */
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

  /** Aborted when the call is over, for whatever reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of `work`, or a rejection with the fault that ended the call first. */
  async wait<T>(work: PromiseLike<T>): Promise<T> {
    // One promise for each wait: a lasting one would remember every race it was part of.
    const { promise, reject } = Promise.withResolvers<never>();
    this.#interrupt = reject;
    if (this.#begun) this.#timer.refresh();
    if (this.#fault !== undefined) reject(this.#fault);
    try {
      return await Promise.race([work, promise]);
    } catch (thrown) {
      // An abort makes the work fail too, in words that say less than the fault.
      throw this.#fault ?? thrown;
    } finally {
      this.#interrupt = undefined;
    }
  }

  /** The other side gave a sign of an answer. */
  sign(): void {
    if (this.#begun) return;
    this.#begun = true;
    clearTimeout(this.#timer);
    this.#timer = this.#alarm(this.#patience.betweenTokensMs);
  }

  /** The call is over: what is still under way for it is aborted. */
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
