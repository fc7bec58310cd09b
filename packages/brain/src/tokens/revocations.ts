import { TOKEN } from "@vidro/core";

/** Tells the live sessions of tokens that were revoked, by whomever. */
export class Revocations {
  readonly #revokedAmong: (tokens: readonly string[]) => Promise<readonly string[]>;
  readonly #sessions = new Map<string, AbortController>();
  #looking = false;
  #again = false;
  #recheck: NodeJS.Timeout | undefined;

  constructor(revokedAmong: (tokens: readonly string[]) => Promise<readonly string[]>) {
    this.#revokedAmong = revokedAmong;
  }

  /** Aborted when the token is revoked; one signal for all sessions of a token. */
  signalOf(token: string): AbortSignal {
    const session = this.#sessions.get(token) ?? new AbortController();
    this.#sessions.set(token, session);
    return session.signal;
  }

  /** Some token has changed: looks which, and ends its sessions. */
  look(): void {
    this.#again = true;
    if (!this.#looking) void this.#lookUntilQuiet();
  }

  /** Looks no more. */
  close(): void {
    clearTimeout(this.#recheck);
    this.#sessions.clear();
  }

  async #lookUntilQuiet(): Promise<void> {
    this.#looking = true;
    while (this.#again) {
      this.#again = false;
      try {
        for (const token of await this.#revokedAmong([...this.#sessions.keys()])) {
          this.#sessions.get(token)?.abort(new Error("The token was revoked."));
          this.#sessions.delete(token);
        }
      } catch {
        // A store that cannot be read now must not keep a revoked session open: it is asked until it answers.
        clearTimeout(this.#recheck);
        this.#recheck = setTimeout(() => this.look(), TOKEN.recheckMs).unref();
      }
    }
    this.#looking = false;
  }
}
