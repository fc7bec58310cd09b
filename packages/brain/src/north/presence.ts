import type { ServerResponse } from "node:http";
import type { Verified } from "../tokens.ts";

/** A longer timer fires at once; nothing streams for weeks without a restart. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Whether the client is still there and still welcome. */
export class Presence {
  readonly #left = new AbortController();
  readonly #response: ServerResponse;
  readonly #revoked: AbortSignal | undefined;
  readonly #going: AbortSignal;
  readonly #expiry: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, verified: Verified | undefined, going: AbortSignal) {
    this.#response = response;
    this.#revoked = verified?.revoked;
    this.#going = going;
    response.once("close", this.#leave);
    if (response.destroyed) this.#leave();
    this.#revoked?.addEventListener("abort", this.#throwOut);
    if (this.#revoked?.aborted === true) this.#throwOut();
    const expiresAt = verified?.expiresAt ?? null;
    if (expiresAt !== null && expiresAt - Date.now() < LONGEST_TIMER_MS)
      this.#expiry = setTimeout(this.#throwOut, expiresAt - Date.now()).unref();
  }

  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Streams have no end of their own to wait for. */
  leaveWhenGoing(): void {
    this.#going.addEventListener("abort", this.#leave);
    if (this.#going.aborted) this.#leave();
  }

  /** A token lives longer than its requests: what they hung on its signal is taken down. */
  end(): void {
    clearTimeout(this.#expiry);
    this.#revoked?.removeEventListener("abort", this.#throwOut);
    this.#going.removeEventListener("abort", this.#leave);
  }

  readonly #leave = (): void => this.#left.abort();

  readonly #throwOut = (): void => {
    this.#leave();
    this.#response.destroy();
  };
}
