import { TOKEN_LIMITS } from "@vidro/core";

/** Tells the live sessions of tokens that were revoked, by whomever. */
export class Revocations {
  readonly #revokedAmong: (tokens: readonly string[]) => Promise<readonly string[]>;
  /** One for each token that a live session holds: it goes with the last of them, so that there are no more than sessions. */
  readonly #signals = new Map<string, WeakRef<AbortSignal>>();
  /** What a signal is aborted by, for as long as somebody holds the signal. */
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

  /** Some token has changed: looks which, and ends its sessions. */
  look(): void {
    this.#again = true;
    if (!this.#looking) void this.#lookUntilQuiet();
  }

  /** Looks no more. */
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
        // A store that cannot be read now must not keep a revoked session open: it is asked until it answers.
        clearTimeout(this.#recheck);
        this.#recheck = setTimeout(() => this.look(), TOKEN_LIMITS.recheckMs).unref();
      }
    }
    this.#looking = false;
  }
}
