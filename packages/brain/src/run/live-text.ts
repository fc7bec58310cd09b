import { ProseReader, readingOf, Trimmer } from "@vidro/core/run";
import type { Event, ModelDelta, ModelEvent } from "@vidro/core";
import type { Redactor, TextStream } from "@vidro/core/redact";
import type { RunState } from "@vidro/core/run";

/** The words of one reply on their way to followers: what they are told joins to the text that is kept of it. */
export class LiveText {
  readonly #state: RunState;
  readonly #redactor: Redactor;
  readonly #redacted: TextStream;
  readonly #trimmer = new Trimmer();
  #reader: ProseReader | undefined;
  #told = "";

  constructor(state: RunState, redactor: Redactor) {
    this.#state = state;
    this.#redactor = redactor;
    this.#redacted = redactor.stream();
  }

  /** The words that a piece of the reply makes known. */
  more({ text, native }: Extract<ModelEvent, { type: "delta" }>): ModelDelta {
    this.#reader ??= new ProseReader(readingOf(this.#state, native === true));
    return this.#tell(this.#trimmer.push(this.#redacted.push(this.#reader.push(text))));
  }

  /** The words that are left of a reply when it is known what becomes of it. */
  rest(events: readonly Event[]): ModelDelta {
    const replied = events.find((event) => event.type === "model.replied");
    const whole = this.#redactor.text(replied?.text ?? "");
    // A model whose pieces do not join to its reply is told of by the entry alone.
    return this.#tell(whole.startsWith(this.#told) ? whole.slice(this.#told.length) : "");
  }

  #tell(text: string): ModelDelta {
    const from = this.#told.length;
    this.#told += text;
    return { type: "model.delta", text, from };
  }
}
