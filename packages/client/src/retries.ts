import { CLIENT_LIMITS } from "@vidro/core";
import { isTransientError } from "./vidro-error.ts";
import type { VidroError } from "./vidro-error.ts";

/** How long a client keeps trying. */
export interface RetryOptions {
  /** Tries after the first one. */
  readonly retries: number;
  /** First rest between tries; it doubles each time. */
  readonly backoffMs: number;
}

/** Counts the tries of one piece of work, and rests between them. */
export class Retries {
  readonly #options: RetryOptions;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;

  constructor(options: RetryOptions, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Something went well: the count starts anew. */
  reset(): void {
    this.#failures = 0;
  }

  /** Rests before the next try; throws what was thrown when another try would not help or there is none left. */
  async backOff(thrown: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!isTransientError(thrown) || this.#failures >= this.#options.retries) throw thrown;
    await sleep(this.#restMs(thrown), this.#signal);
    this.#failures += 1;
  }

  /** Full jitter: clients that were cut together do not come back together. */
  #restMs({ retryAfterMs }: VidroError): number {
    if (retryAfterMs !== undefined) return Math.min(retryAfterMs, CLIENT_LIMITS.retryAfterCapMs);
    const longestMs = Math.min(CLIENT_LIMITS.backoffCapMs, this.#options.backoffMs * 2 ** this.#failures);
    return Math.random() * longestMs;
  }
}

/** Waits; rejects with the signal's reason when it fires. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
