import { STREAM_LIMITS } from "@vidro/core";

/**
 * Which clients were shown which runs since this brain started: an answer that names no question is taken only from a
 * client that was shown the run which asks.
 */
export class Witnesses {
  readonly #shown = new Set<string>();

  /** The client with that token is shown a run. */
  show(tokenId: string, run: string): void {
    const [oldest] = this.#shown.size >= STREAM_LIMITS.witnesses ? this.#shown : [];
    if (oldest !== undefined) this.#shown.delete(oldest);
    this.#shown.add(`${tokenId} ${run}`);
  }

  /** Whether the client with that token was shown a run. */
  has(tokenId: string, run: string): boolean {
    return this.#shown.has(`${tokenId} ${run}`);
  }
}
