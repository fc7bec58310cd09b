import { VidroError } from "./vidro-error.ts";

/** A signal that fires with the caller's signal, or when one wait() takes too long; time between waits does not count. */
export class WaitLimit {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.#controller.abort(this.#outer?.reason);

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#stop();
    else outer?.addEventListener("abort", this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for a promise; aborts the signal when it takes longer than `longestMs`. */
  async wait<Thing>(thing: Promise<Thing>, longestMs: number): Promise<Thing> {
    const timer = setTimeout(() => {
      const message = `Nothing came from the brain for ${longestMs / 1000} s.`;
      this.#controller.abort(new VidroError("BRAIN_UNREACHABLE", message));
    }, longestMs);
    try {
      return await thing;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Aborts what is still open. */
  end(): void {
    this.#outer?.removeEventListener("abort", this.#stop);
    this.#controller.abort();
  }
}
