import { HAND_LIMITS } from "./limits.ts";
import type { HandEvent } from "./ports.ts";

type LiveOutput = Extract<HandEvent, { type: "output" }>;

/** Live output between an action and one reader. It never blocks: output is dropped while the reader is behind. */
export class LiveQueue implements AsyncIterable<LiveOutput> {
  readonly #waiting: LiveOutput[] = [];
  #chars = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  /** Adds an event, or drops it when too much is waiting. */
  put(event: LiveOutput): void {
    if (this.#ended || this.#chars + event.chunk.length > HAND_LIMITS.liveWaitingBytes) return;
    this.#chars += event.chunk.length;
    this.#waiting.push(event);
    this.#wake();
  }

  /** Ends the iteration after what is waiting was read. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveOutput> {
    for (;;) {
      const batch = this.#waiting.splice(0);
      this.#chars = 0;
      yield* batch;
      if (this.#waiting.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
