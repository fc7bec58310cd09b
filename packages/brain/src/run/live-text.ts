import { ProseReader, readingOf, Trimmer } from "@vidro/core/run";
import type { Event, ModelDelta, ModelEvent, ModelThinking } from "@vidro/core";
import type { Redactor, TextStream } from "@vidro/core/redact";
import type { RunState } from "@vidro/core/run";

/** The text of one model reply on its way to followers: the deltas join to the text that the journal keeps. */
export class LiveText {
  readonly #state: RunState;
  readonly #redactor: Redactor;
  /** Made with the first piece: a stream has memory of its own for each kind of secret. */
  #redacted: TextStream | undefined;
  readonly #trimmer = new Trimmer();
  #reader: ProseReader | undefined;
  #redactedThinking: TextStream | undefined;
  #published = "";
  #thoughtChars = 0;

  constructor(state: RunState, redactor: Redactor) {
    this.#state = state;
    this.#redactor = redactor;
  }

  /** The delta that a piece of the reply adds. */
  nextDelta({ text, native }: Extract<ModelEvent, { type: "delta" }>): ModelDelta {
    this.#reader ??= new ProseReader(readingOf(this.#state, native === true));
    this.#redacted ??= this.#redactor.stream();
    return this.#delta(this.#trimmer.push(this.#redacted.push(this.#reader.push(text))));
  }

  /** The words that a piece of the model's thinking adds. */
  nextThinking({ text: piece }: Extract<ModelEvent, { type: "thinking" }>): ModelThinking {
    this.#redactedThinking ??= this.#redactor.stream();
    const text = this.#redactedThinking.push(piece);
    const from = this.#thoughtChars;
    this.#thoughtChars += text.length;
    return { type: "model.thinking", text, from };
  }

  /** The rest of the text once the reply is complete. */
  lastDelta(events: readonly Event[]): ModelDelta {
    const replied = events.find((event) => event.type === "model.replied");
    const whole = this.#redactor.text(replied?.text ?? "");
    // If the pieces of a model do not join to its reply, followers get the text from the entry alone.
    return this.#delta(whole.startsWith(this.#published) ? whole.slice(this.#published.length) : "");
  }

  #delta(text: string): ModelDelta {
    const from = this.#published.length;
    this.#published += text;
    return { type: "model.delta", text, from };
  }
}
