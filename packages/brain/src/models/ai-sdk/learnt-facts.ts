import { MODEL_LIMITS } from "@vidro/core";
import { windowNamedIn } from "@vidro/core/run";
import type { FaultReport, Usage } from "@vidro/core";

/** Facts about a model that this process has learnt from its server. */
export class LearntFacts {
  /** The server takes no tools: they are described in the text. */
  isInText = false;
  #window: number | undefined;
  #askWindow: (() => Promise<number | undefined>) | undefined;

  /** `askWindow` asks the server for the model's window; it is asked once, after a prompt that fills some of it. */
  constructor(askWindow?: () => Promise<number | undefined>) {
    this.#askWindow = askWindow;
  }

  /** The window of the model, where its server has named it. */
  async window({ inputTokens }: Usage): Promise<{ readonly window?: number }> {
    if (inputTokens >= MODEL_LIMITS.countedTokens) {
      const ask = this.#askWindow;
      this.#askWindow = undefined;
      this.#window ??= await ask?.();
    }
    return this.#window === undefined ? {} : { window: this.#window };
  }

  /** Takes the window that a refusal of the server names. */
  learn({ code, message }: FaultReport): void {
    if (code === "MODEL_CONTEXT_FULL") this.#window = windowNamedIn(message) ?? this.#window;
  }
}
