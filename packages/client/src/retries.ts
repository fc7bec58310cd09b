import { CLIENT_LIMITS } from "@vidro/core";
import { isTransientError } from "./vidro-error.ts";
import type { VidroError } from "./vidro-error.ts";

/** How often a failed request is repeated. */
export interface RetryOptions {
  /** Repetitions after the first try. */
  readonly retries: number;
  /** First delay between tries; it doubles each time. */
  readonly backoffMs: number;
}

/** Counts the tries of one operation and waits between them. */
export class Retries {
  readonly #options: RetryOptions;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;

  constructor(options: RetryOptions, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Starts the count again after progress. */
  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next try; rethrows `thrown` when it is not transient or no try is left. */
  async backOff(thrown: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!isTransientError(thrown) || this.#failures >= this.#options.retries) throw thrown;
    await sleep(this.#restMs(thrown), this.#signal);
    this.#failures += 1;
  }

  /** Full jitter, so that clients that were cut together do not reconnect together. */
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
