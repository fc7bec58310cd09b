import { TOKEN_LIMITS } from "@vidro/core";

/** Aborts the live sessions of tokens once they are revoked, also by another process. */
export class Revocations {
  readonly #revokedAmong: (tokens: readonly string[]) => Promise<readonly string[]>;
  /**
   * One signal for each token with a live session; it is collected with the last of them, so there are no more than
   * sessions.
   */
  readonly #signals = new Map<string, WeakRef<AbortSignal>>();
  /** The controller of each signal, for as long as the signal is held. */
  readonly #controllers = new WeakMap<AbortSignal, AbortController>();
  readonly #left = new FinalizationRegistry<string>((token) => {
    if (this.#signals.get(token)?.deref() === undefined) this.#signals.delete(token);
  });
  #looking = false;
  #again = false;
  #recheck: NodeJS.Timeout | undefined;

  constructor(revokedAmong: (tokens: readonly string[]) => Promise<readonly string[]>) {
    this.#revokedAmong = revokedAmong;
  }

  /** Aborted when the token is revoked; one signal for all sessions of a token. */
  signalOf(token: string): AbortSignal {
    const known = this.#signals.get(token)?.deref();
    if (known !== undefined) return known;
    const controller = new AbortController();
    const { signal } = controller;
    this.#controllers.set(signal, controller);
    this.#signals.set(token, new WeakRef(signal));
    this.#left.register(signal, token);
    return signal;
  }

  /** Looks for revoked tokens after a change, and aborts their sessions. */
  look(): void {
    this.#again = true;
    if (!this.#looking) void this.#lookUntilQuiet();
  }

  /** Stops looking. */
  close(): void {
    clearTimeout(this.#recheck);
    this.#signals.clear();
  }

  async #lookUntilQuiet(): Promise<void> {
    this.#looking = true;
    while (this.#again) {
      this.#again = false;
      try {
        for (const token of await this.#revokedAmong([...this.#signals.keys()])) {
          const signal = this.#signals.get(token)?.deref();
          if (signal !== undefined) this.#controllers.get(signal)?.abort(new Error("The token was revoked."));
          this.#signals.delete(token);
        }
      } catch {
        // A store that cannot be read now must not keep a revoked session open: it is read again until it answers.
        clearTimeout(this.#recheck);
        this.#recheck = setTimeout(() => this.look(), TOKEN_LIMITS.recheckMs).unref();
      }
    }
    this.#looking = false;
  }
}
