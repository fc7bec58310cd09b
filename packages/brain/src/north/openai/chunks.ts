import { asFault, Fault, STREAM_LIMITS } from "@vidro/core";
import { encodeSse } from "@vidro/core/codec";
import { voidsWords } from "@vidro/core/run";
import type { Entry, FaultReport, JsonObject, LiveEvent } from "@vidro/core";
import { questionFields, callFields, answerEnding, finishReason, answerHead, UsageTally, usageOf } from "./answer.ts";
import type { AnswerContext, AnswerEnding } from "./answer.ts";
import { faultBody } from "./fault-body.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** Options of a stream. */
interface ChunkOptions {
  readonly includeUsage: boolean;
  /** Whether the client can remove text that a chunk declares void. */
  readonly includeVoided: boolean;
}

/**
 * An answer as server-sent events: role, text as it arrives, the call or the end, and `[DONE]`. The chunks join to the
 * content of the whole answer. Text of a reply that broke off was sent already, and the next reply may differ: as far
 * as it is the same the stream goes on; where it differs the client is told to remove the rest if it can do that, and
 * gets an error if it cannot.
 */
export class ChunkEncoder implements AnswerEncoder {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly heartbeat = ": still at work\n\n";
  readonly heartbeatMs = STREAM_LIMITS.sseHeartbeatMs;
  isEnded = false;
  readonly #answering: AnswerContext;
  readonly #options: ChunkOptions;
  readonly #used = new UsageTally();
  /** Text of the reply that is arriving. */
  #reply = "";
  /** Text that was sent and belongs to a void reply: the next reply has to repeat it. */
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
    // If deltas were dropped, the rest of the text comes with the reply's entry.
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

  /** Declares the arriving reply void; what was sent of it has to be repeated by the next one. */
  #void(): void {
    if (this.#reply !== "") this.#owed = this.#used.parting + this.#reply + this.#owed;
    this.#reply = "";
  }

  /** Sends text of a reply as far as it was not sent before. */
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

  /** Handles text at the client that is not part of the answer. */
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

  /** A call as a delta; in the present form each call has its index. */
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

/** Length of the common beginning of two texts. */
function sameChars(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same += 1;
  return same;
}

function data(value: unknown): string {
  return encodeSse({ data: JSON.stringify(value) });
}
