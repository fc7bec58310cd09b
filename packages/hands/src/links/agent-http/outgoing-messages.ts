import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";

/**
 * Messages that wait to be sent to the brain, in order. Ends of actions are kept until the brain has them, also across
 * sessions; live output is dropped when the session ends.
 */
export class OutgoingMessages {
  #waiting: readonly JsonObject[] = [];
  #wake: (() => void) | undefined;

  /** Adds a message; false when there is no room for it. */
  add(message: JsonObject): boolean {
    if (this.#waiting.length >= REGISTER_LIMITS.orders) return false;
    this.#waiting = [...this.#waiting, message];
    this.#wake?.();
    return true;
  }

  /** Waits for messages and returns as many as fit into one request; they stay until `removeFirst`. */
  async next(maxBytes: number, signal: AbortSignal): Promise<readonly JsonObject[]> {
    if (this.#waiting.length === 0) await this.#waitForWake(signal);
    let bytes = 0;
    return this.#waiting
      .slice(0, SIGNED_HTTP_LIMITS.messages)
      .filter((message, at) => (bytes += Buffer.byteLength(JSON.stringify(message)) + 1) <= maxBytes || at === 0);
  }

  /** Removes the first messages, which the brain has received. */
  removeFirst(count: number): void {
    this.#waiting = this.#waiting.slice(count);
  }

  /** Removes live output. */
  dropLiveOutput(): void {
    this.#waiting = this.#waiting.filter(({ method }) => method !== "exec.output");
  }

  async #waitForWake(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    await promise;
    signal.removeEventListener("abort", wake);
    if (this.#wake === wake) this.#wake = undefined;
  }
}
