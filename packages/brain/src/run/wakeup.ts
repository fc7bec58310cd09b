/** A wake-up call for one waiter; a call that comes while nothing waits is kept for the next wait. */
export class Wakeup {
  #rung = false;
  #waiting: (() => void) | undefined;

  /** Resolves the pending wait(), or the next one if none is pending. */
  wake(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  /** Resolves at the next wake(), at once when one came since the last wait. Only one wait may be pending. */
  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#waiting = resolve));
    this.#rung = false;
    this.#waiting = undefined;
  }
}
