import { STREAM_LIMITS } from "@vidro/core";

/**
 * Which clients were shown which runs since this brain started: an answer without a question id is accepted only from a
 * client that was shown the asking run.
 */
export class Witnesses {
  readonly #shown = new Set<string>();

  /** Notes that the client with that token is shown a run. */
  show(tokenId: string, run: string): void {
    const pair = `${tokenId} ${run}`;
    // Put at the end again: of many, those that were shown a run last are kept.
    this.#shown.delete(pair);
    const [oldest] = this.#shown.size >= STREAM_LIMITS.witnesses ? this.#shown : [];
    if (oldest !== undefined) this.#shown.delete(oldest);
    this.#shown.add(pair);
  }

  /** Whether the client with that token was shown a run. */
  has(tokenId: string, run: string): boolean {
    return this.#shown.has(`${tokenId} ${run}`);
  }
}
