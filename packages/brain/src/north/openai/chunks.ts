import { asFault, Fault, STREAM_LIMITS } from "@vidro/core";
import { encodeSse } from "@vidro/core/codec";
import { voidsWords } from "@vidro/core/run";
import type { Entry, FaultReport, JsonObject, LiveEvent } from "@vidro/core";
import { questionFields, callFields, answerEnding, finishReason, answerHead, UsageTally, usageOf } from "./answer.ts";
import type { AnswerContext, AnswerEnding } from "./answer.ts";
import { faultBody } from "./fault-body.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** What a stream has besides the words. */
interface ChunkOptions {
  readonly includeUsage: boolean;
  /** Whether the client takes words back when it is told to. */
  readonly includeVoided: boolean;
}

/**
 * An answer as server-sent events: who speaks, the words as they come, the call or the end, and a last mark. What was
 * sent joins to the content of the whole answer. Words of a reply that broke off are sent, and the next one may say
 * others: as far as it says the same the stream goes on, and where it does not the client is told to take the rest back
 * when it can do that, and gets an error when it cannot.
 */
export class ChunkEncoder implements AnswerEncoder {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly heartbeat = ": still at work\n\n";
  readonly heartbeatMs = STREAM_LIMITS.sseHeartbeatMs;
  isEnded = false;
  readonly #answering: AnswerContext;
  readonly #options: ChunkOptions;
  readonly #used = new UsageTally();
  /** What is known of the reply that comes in. */
  #reply = "";
  /** What was sent of the answer and belongs to no reply that is kept or comes in: it is to be said again. */
  #owed = "";

  constructor(answering: AnswerContext, options: ChunkOptions) {
    this.#answering = answering;
    this.#options = options;
  }

  begin(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  live(event: LiveEvent): string | undefined {
    if (event.type !== "model.delta" || this.isEnded) return undefined;
    if (event.from === 0) this.#void();
    // Where words were lost on the way, the reply is told when it is known.
    if (event.from !== this.#reply.length) return undefined;
    return this.#say(event.text) || undefined;
  }

  entry(entry: Entry): string | undefined {
    const { event } = entry;
    if (this.isEnded) return undefined;
    if (voidsWords(event)) this.#void();
    if (event.type === "model.replied") return this.#replied(entry, event.text) || undefined;
    this.#used.add(entry);
    const ending = this.#endingOf(entry);
    if (ending === undefined) return undefined;
    return ending instanceof Fault ? this.fault(ending.report()) : this.#end(ending);
  }

  fault(fault: FaultReport): string {
    this.isEnded = true;
    return data(faultBody(fault));
  }

  #endingOf(entry: Entry): AnswerEnding | Fault | undefined {
    try {
      return answerEnding(entry, this.#answering.run);
    } catch (thrown) {
      return asFault(thrown);
    }
  }

  #replied(entry: Entry, text: string): string {
    if (!text.startsWith(this.#reply)) this.#void();
    const words = this.#say(text.slice(this.#reply.length));
    this.#reply = "";
    this.#used.add(entry);
    return words;
  }

  /** The words of the reply that came in are no part of any; those that were sent are to be said again. */
  #void(): void {
    if (this.#reply !== "") this.#owed = this.#used.parting + this.#reply + this.#owed;
    this.#reply = "";
  }

  /** Sends words of a reply as far as they were not sent before. */
  #say(words: string): string {
    if (words === "") return "";
    const said = this.#reply === "" ? this.#used.parting + words : words;
    this.#reply += words;
    const same = sameChars(said, this.#owed);
    this.#owed = this.#owed.slice(same);
    if (same === said.length) return "";
    if (this.#owed === "") return this.#chunk({ content: said.slice(same) });
    return this.#takeBack() + (this.isEnded ? "" : this.#chunk({ content: said.slice(same) }));
  }

  /** The client has words that are not in the answer. */
  #takeBack(): string {
    const { run } = this.#answering;
    if (!this.#options.includeVoided) {
      const message = `A reply broke off, and what was streamed of it is void. Run ${run} goes on: send the same request again for its answer.`;
      return this.fault(new Fault("MODEL_CUT", message).report());
    }
    const voided = this.#owed.length;
    this.#owed = "";
    return this.#chunk({}, null, { voided });
  }

  #end(ending: AnswerEnding): string {
    const said = ending.finish === "stop" ? this.#used.missing(ending.text) : "";
    const words = this.#say(said) + (this.#owed === "" ? "" : this.#takeBack());
    if (this.isEnded) return words;
    this.isEnded = true;
    const call = ending.finish === "call" ? this.#chunk(this.#call(ending)) : "";
    const reason = finishReason(ending, this.#answering.form, this.#used);
    const finish = this.#chunk({}, reason, questionFields(this.#answering, ending));
    const usage = this.#options.includeUsage
      ? data({ ...answerHead(this.#answering, OBJECT), choices: [], usage: usageOf(this.#used) })
      : "";
    return `${words}${call}${finish}${usage}${DONE}`;
  }

  /** Each call of a chunk says which one of the answer it belongs to. */
  #call(ending: Extract<AnswerEnding, { finish: "call" }>): JsonObject {
    const called = callFields(ending, this.#answering.form);
    const { tool_calls: calls } = called as { tool_calls?: readonly JsonObject[] };
    return calls === undefined ? called : { tool_calls: calls.map((call, index) => ({ index, ...call })) };
  }

  #chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish };
    const usage = this.#options.includeUsage ? { usage: null } : {};
    return data({ ...answerHead(this.#answering, OBJECT), choices: [choice], ...usage, ...more });
  }
}

const OBJECT = "chat.completion.chunk";
const DONE = encodeSse({ data: "[DONE]" });

/** How many characters two texts begin with in common. */
function sameChars(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same += 1;
  return same;
}

function data(value: unknown): string {
  return encodeSse({ data: JSON.stringify(value) });
}
