import { asFault, Fault, STREAM_LIMITS } from "@vidro/core";
import type { Entry, FaultReport, LiveEvent } from "@vidro/core";
import { answerEnding, thinkingOf } from "./answer.ts";
import type { AnswerEnding } from "./answer.ts";
import { AnswerDeltas } from "./answer-deltas.ts";
import type { AnswerDelta } from "./answer-deltas.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** An answer as server-sent events: what the wires have in common. Nothing is encoded after the end. */
export abstract class SseAnswerEncoder implements AnswerEncoder {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly heartbeat = ": still at work\n\n";
  readonly heartbeatMs = STREAM_LIMITS.sseHeartbeatMs;
  isEnded = false;
  protected readonly deltas = new AnswerDeltas();
  readonly #run: string;
  /** The thinking of the arriving reply, as far as it was encoded. */
  #thought = "";

  constructor(run: string) {
    this.#run = run;
  }

  abstract begin(): string;
  abstract fault(fault: FaultReport): string;
  /** Encodes text that was added, and text that is void. */
  protected abstract say(delta: AnswerDelta | undefined): string;
  /** Encodes thinking; `from` is how many characters of the reply's thinking were encoded before. */
  protected abstract think(text: string, from: number): string;
  /** Encodes the end of the answer. */
  protected abstract finish(ending: AnswerEnding): string;

  live(event: LiveEvent): string | undefined {
    if (this.isEnded) return undefined;
    if (event.type !== "model.thinking") return this.say(this.deltas.live(event)) || undefined;
    if (event.from === 0) this.#thought = "";
    return event.from === this.#thought.length ? this.#think(event.text) || undefined : undefined;
  }

  entry(entry: Entry): string | undefined {
    if (this.isEnded) return undefined;
    const words = this.#thinkRest(entry) + this.say(this.deltas.entry(entry));
    const ending = this.isEnded ? undefined : this.#endingOf(entry);
    if (ending === undefined) return words || undefined;
    return words + (ending instanceof Fault ? this.fault(ending.report()) : this.finish(ending));
  }

  /** Ends the stream of a client that cannot remove text which is void. */
  protected breakOff(): string {
    const message = `A reply broke off, and what was streamed of it is void. Run ${this.#run} goes on: send the same request again for its answer.`;
    return this.fault(new Fault("MODEL_CUT", message).report());
  }

  /** Encodes the thinking of a reply that did not arrive live. */
  #thinkRest({ event }: Entry): string {
    if (event.type !== "model.replied") return "";
    const whole = thinkingOf(event);
    const rest = whole.startsWith(this.#thought) ? this.#think(whole.slice(this.#thought.length)) : "";
    this.#thought = "";
    return rest;
  }

  #think(text: string): string {
    if (text === "") return "";
    const from = this.#thought.length;
    this.#thought += text;
    return this.think(text, from);
  }

  #endingOf(entry: Entry): AnswerEnding | Fault | undefined {
    try {
      return answerEnding(entry, this.#run);
    } catch (thrown) {
      return asFault(thrown);
    }
  }
}
