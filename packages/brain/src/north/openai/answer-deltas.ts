import { voidsWords } from "@vidro/core/run";
import type { Entry, LiveEvent } from "@vidro/core";
import { UsageTally } from "./answer.ts";

/** Text to send, and how many characters at the end of what was sent before are void. */
export interface AnswerDelta {
  readonly voided: number;
  readonly words: string;
}

/**
 * The text of an answer as it arrives; the deltas join to the content of the whole answer. Text of a reply that broke
 * off was sent already, and the next reply may differ: as far as it is the same the stream goes on, and where it differs
 * the rest of what was sent is void.
 */
export class AnswerDeltas {
  readonly used = new UsageTally();
  /** Text of the reply that is arriving. */
  #reply = "";
  /** Text that was sent and belongs to a void reply: the next reply has to repeat it. */
  #owed = "";

  /** The words that a live event adds. */
  live(event: LiveEvent): AnswerDelta | undefined {
    if (event.type !== "model.delta") return undefined;
    if (event.from === 0) this.#void();
    // If deltas were dropped, the rest of the text comes with the reply's entry.
    return event.from === this.#reply.length ? this.#say(event.text) : undefined;
  }

  /** The words that an entry adds. */
  entry(entry: Entry): AnswerDelta | undefined {
    const { event } = entry;
    if (voidsWords(event)) this.#void();
    if (event.type !== "model.replied") return undefined;
    if (!event.text.startsWith(this.#reply)) this.#void();
    const delta = this.#say(event.text.slice(this.#reply.length));
    this.#reply = "";
    this.used.add(entry);
    return delta;
  }

  /** The words that are left to send when the answer ends with `text`. */
  endWith(text: string | undefined): AnswerDelta | undefined {
    const delta = this.#say(text === undefined ? "" : this.used.missingPart(text));
    if (delta !== undefined || this.#owed === "") return delta;
    return { voided: this.#owed.length, words: "" };
  }

  /** Declares the arriving reply void; what was sent of it has to be repeated by the next one. */
  #void(): void {
    if (this.#reply !== "") this.#owed = this.used.parting + this.#reply + this.#owed;
    this.#reply = "";
  }

  /** Text of a reply as far as it was not sent before. */
  #say(words: string): AnswerDelta | undefined {
    if (words === "") return undefined;
    const said = this.#reply === "" ? this.used.parting + words : words;
    this.#reply += words;
    const same = sameChars(said, this.#owed);
    const voided = this.#owed.length - same;
    if (same === said.length) {
      this.#owed = this.#owed.slice(same);
      return undefined;
    }
    this.#owed = "";
    return { voided, words: said.slice(same) };
  }
}

/** Length of the common beginning of two texts. */
function sameChars(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same += 1;
  return same;
}
