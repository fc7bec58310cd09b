import { STREAM_LIMITS } from "@vidro/core";

/**
 * Shares the turns of the event loop among all followers: at most `turnBytes` are written in one turn, and the rest
 * wait in order of arrival. Other work runs between two turns, so a new connection never waits for all followers.
 */
class FairTurns {
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = [];
  #left: number = STREAM_LIMITS.turnBytes;
  /** Whether a new turn is scheduled. */
  #isDue = false;

  /** Resolves in the turn in which so many bytes may be written; undefined when that is this turn. */
  take(bytes: number): Promise<void> | undefined {
    this.#comeAgain();
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= bytes;
      return undefined;
    }
    return new Promise((go) => this.#waiting.push({ bytes, go }));
  }

  #begin(): void {
    this.#left = STREAM_LIMITS.turnBytes;
    this.#isDue = false;
    let served = 0;
    for (; served < this.#waiting.length && this.#left > 0; served += 1) {
      this.#left -= this.#waiting[served]!.bytes;
      this.#waiting[served]!.go();
    }
    this.#waiting.splice(0, served);
    if (served > 0) this.#comeAgain();
  }

  #comeAgain(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#begin());
  }
}

/** The turns of this process. */
export const turns = new FairTurns();
