import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";

/**
 * What a hand has to tell its brain, in order. Ends of actions wait until the brain has them, also over a cut; live
 * output is for whoever watches now, and is dropped when nobody can.
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

  /** The first of what waits, as many as fit into one request, once something waits; they wait on until they are told. */
  async next(maxBytes: number, signal: AbortSignal): Promise<readonly JsonObject[]> {
    if (this.#waiting.length === 0) await this.#woken(signal);
    let bytes = 0;
    return this.#waiting
      .slice(0, SIGNED_HTTP_LIMITS.messages)
      .filter((message, at) => (bytes += Buffer.byteLength(JSON.stringify(message)) + 1) <= maxBytes || at === 0);
  }

  /** The brain has so many of the first messages. */
  removeFirst(count: number): void {
    this.#waiting = this.#waiting.slice(count);
  }

  /** Nobody watches any more. */
  dropLiveOutput(): void {
    this.#waiting = this.#waiting.filter(({ method }) => method !== "exec.output");
  }

  async #woken(signal: AbortSignal): Promise<void> {
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
