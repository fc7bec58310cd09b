import { asFault, Fault, STREAM } from "@vidro/core";
import type { Entry, FaultReport, JsonObject, LiveEvent } from "@vidro/core";
import { askedBy, calledAs, endingOf, finishReason, letterhead, Tally, usageOf } from "./answer.ts";
import type { Answering, Ending } from "./answer.ts";
import { faultBody } from "./fault-body.ts";
import { Prose } from "./prose.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** An answer as server-sent events: who speaks, the words as they come, the call or the end, and a last mark. */
export class Chunks implements AnswerEncoder {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly heartbeat = ": still at work\n\n";
  readonly heartbeatMs = STREAM.sseHeartbeatMs;
  endedAt = Infinity;
  readonly #answering: Answering;
  readonly #includeUsage: boolean;
  readonly #used = new Tally();
  readonly #prose = new Prose();
  /** The words of the reply that was told last. */
  #told = "";
  /** Whether the reply that comes in has shown words, and what stands between it and the words before. */
  #begun = false;
  #gap = "";
  /** How many characters of it were shown. */
  #shown = 0;
  /** Whether words of the reply that comes in were lost: then it is told whole when it is known. */
  #lost = false;

  constructor(answering: Answering, includeUsage: boolean) {
    this.#answering = answering;
    this.#includeUsage = includeUsage;
  }

  begin(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  live(event: LiveEvent): string | undefined {
    if (event.type !== "model.delta" || this.#lost) return undefined;
    return this.#words(this.#prose.push(event.text)) || undefined;
  }

  entry(entry: Entry): string | undefined {
    this.#used.add(entry);
    if (entry.event.type === "model.replied") return this.#replied(entry.event.text) || undefined;
    if (entry.event.type === "model.failed") return this.#voided();
    const ending = this.#endingOf(entry);
    if (ending === undefined) return undefined;
    this.endedAt = entry.seq;
    return ending instanceof Fault ? this.fault(ending.report()) : this.#end(ending);
  }

  again(): void {
    this.#cut();
    this.#lost = true;
  }

  fault(fault: FaultReport): string {
    return data(faultBody(fault));
  }

  #endingOf(entry: Entry): Ending | Fault | undefined {
    try {
      return endingOf(entry, this.#answering.run);
    } catch (thrown) {
      return asFault(thrown);
    }
  }

  #replied(text: string): string {
    const words = this.#words(this.#prose.end(text));
    this.#told = text;
    this.#lost = false;
    this.#pause();
    return words;
  }

  /** What a reply has shown that goes no further cannot be taken back; what comes next begins anew. */
  #cut(): void {
    this.#prose.end("");
    this.#pause();
  }

  /** Says of how many of the last characters nothing is kept: they were of a reply that broke off. */
  #voided(): string | undefined {
    if (!this.#begun) {
      this.#cut();
      return undefined;
    }
    // Who does not know the field sees the next reply stand apart; who does takes that back, too.
    const parting = this.#words(PARTING);
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: null };
    const voided = data({ ...letterhead(this.#answering, OBJECT), choices: [choice], voided: this.#shown });
    this.#prose.end("");
    this.#begun = false;
    return parting + voided;
  }

  /** The reply is over: what comes next stands apart from it. */
  #pause(): void {
    if (this.#begun) this.#gap = PARTING;
    this.#begun = false;
  }

  #end(ending: Ending): string {
    const last =
      ending.finish === "stop"
        ? this.#words(ending.text === this.#told ? "" : ending.text)
        : this.#chunk(this.#call(ending));
    const reason = finishReason(ending, this.#answering.form, this.#used);
    const finish = this.#chunk({}, reason, askedBy(this.#answering, ending));
    const usage = this.#includeUsage
      ? data({ ...letterhead(this.#answering, OBJECT), choices: [], usage: usageOf(this.#used) })
      : "";
    return `${last}${finish}${usage}data: [DONE]\n\n`;
  }

  /** Each call of a chunk says which one of the answer it belongs to. */
  #call(ending: Extract<Ending, { finish: "call" }>): JsonObject {
    const called = calledAs(ending, this.#answering.form);
    const { tool_calls: calls } = called as { tool_calls?: readonly JsonObject[] };
    return calls === undefined ? called : { tool_calls: calls.map((call, index) => ({ index, ...call })) };
  }

  #words(content: string): string {
    if (content === "") return "";
    const gap = this.#begun ? "" : this.#gap;
    this.#shown = (this.#begun ? this.#shown : 0) + gap.length + content.length;
    this.#begun = true;
    return this.#chunk({ content: gap + content });
  }

  #chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish };
    const usage = this.#includeUsage ? { usage: null } : {};
    return data({ ...letterhead(this.#answering, OBJECT), choices: [choice], ...usage, ...more });
  }
}

const OBJECT = "chat.completion.chunk";
/** What stands between two replies. */
const PARTING = "\n\n";

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
