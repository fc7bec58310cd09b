/** A bell that remembers being rung while nobody waited. */
export class Wakeup {
  #rung = false;
  #waiting: (() => void) | undefined;

  /** Wakes whoever waits, or the next one who does. */
  wake(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  /** Resolves at the next ring, at once when there was one. One waits at a time. */
  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#waiting = resolve));
    this.#rung = false;
    this.#waiting = undefined;
  }
}
