import type { ServerResponse } from "node:http";
import { Fault, HTTP_LIMITS, LONGEST_TIMER_MS } from "@vidro/core";
import type { VerifiedCaller } from "../auth/caller.ts";

/** The signals of a server that shuts down: first for streams, then for those who still wait. */
interface ServerEnd {
  readonly going: AbortSignal;
  readonly late: AbortSignal;
}

/** Throws when a token was revoked or has expired since it was verified: a body may come long after its head. */
export function requireStillValid({ revoked, expiresAt }: VerifiedCaller): void {
  if (revoked.aborted) throw new Fault("INVALID_TOKEN", "The token was revoked.");
  if (expiresAt !== null && expiresAt <= Date.now()) throw new Fault("TOKEN_EXPIRED");
}

/** Aborts a request when its client has disconnected, its token was revoked or has expired, or the server ends. */
export class ClientPresence {
  readonly #left = new AbortController();
  readonly #gone = new AbortController();
  readonly #response: ServerResponse;
  readonly #revoked: AbortSignal | undefined;
  readonly #going: AbortSignal;
  readonly #late: AbortSignal;
  readonly #expiry: NodeJS.Timeout | undefined;
  #isStream = false;

  constructor(response: ServerResponse, verified: VerifiedCaller | undefined, { going, late }: ServerEnd) {
    this.#response = response;
    this.#revoked = verified?.revoked;
    this.#going = going;
    this.#late = late;
    late.addEventListener("abort", this.#leave);
    response.once("close", this.#close);
    if (response.destroyed) this.#close();
    this.#revoked?.addEventListener("abort", this.#revoke);
    if (this.#revoked?.aborted === true) this.#revoke();
    const expiresAt = verified?.expiresAt ?? null;
    if (expiresAt !== null && expiresAt - Date.now() < LONGEST_TIMER_MS)
      this.#expiry = setTimeout(this.#expire, expiresAt - Date.now()).unref();
  }

  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Aborted only when the client has disconnected before its answer was whole. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Aborts also when the server shuts down: for streams, which would not end by themselves. */
  leaveWhenGoing(): void {
    this.#isStream = true;
    this.#going.addEventListener("abort", this.#leave);
    if (this.#going.aborted) this.#leave();
  }

  /** Removes the listeners from the token's signal, which outlives the request. */
  end(): void {
    clearTimeout(this.#expiry);
    this.#revoked?.removeEventListener("abort", this.#revoke);
    this.#going.removeEventListener("abort", this.#leave);
    this.#late.removeEventListener("abort", this.#leave);
  }

  readonly #leave = (): void => this.#left.abort();

  readonly #close = (): void => {
    this.#leave();
    // A server that shuts down cuts connections, too.
    if (!this.#response.writableFinished && !this.#going.aborted) this.#gone.abort();
  };

  readonly #revoke = (): void => this.#endWith(new Fault("INVALID_TOKEN", "The token was revoked."));

  readonly #expire = (): void => this.#endWith(new Fault("TOKEN_EXPIRED"));

  /** A stream sends its reason first and then ends the connection; a client that does not read it is cut off. */
  #endWith(fault: Fault): void {
    const response = this.#response;
    this.#left.abort(fault);
    if (!this.#isStream) return void response.destroy();
    const { socket } = response;
    response.once("finish", () => socket?.destroySoon());
    setTimeout(() => response.destroy(), HTTP_LIMITS.lastWordsMs).unref();
  }
}
