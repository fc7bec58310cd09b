import { asFault, Fault, STREAM_LIMITS } from "@vidro/core";
import { encodeSse } from "@vidro/core/codec";
import type { Entry, FaultReport, JsonObject, LiveEvent } from "@vidro/core";
import { questionFields, callFields, answerEnding, finishReason, answerHead, usageOf } from "./answer.ts";
import type { AnswerEnding, CallEnding, ChatAnswer } from "./answer.ts";
import { AnswerDeltas } from "./answer-deltas.ts";
import type { AnswerDelta } from "./answer-deltas.ts";
import { faultBody } from "./fault-body.ts";
import type { AnswerEncoder } from "./stream-answer.ts";

/** Options of a stream. */
interface ChunkOptions {
  readonly includeUsage: boolean;
  /** Whether the client can remove text that a chunk declares void. */
  readonly includeVoided: boolean;
}

/**
 * An answer as server-sent events: role, text as it arrives, the call or the end, and `[DONE]`. Where text that was sent
 * is void, the client is told to remove it if it can do that, and gets an error if it cannot.
 */
export class ChunkEncoder implements AnswerEncoder {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly heartbeat = ": still at work\n\n";
  readonly heartbeatMs = STREAM_LIMITS.sseHeartbeatMs;
  isEnded = false;
  readonly #answering: ChatAnswer;
  readonly #options: ChunkOptions;
  readonly #deltas = new AnswerDeltas();

  constructor(answering: ChatAnswer, options: ChunkOptions) {
    this.#answering = answering;
    this.#options = options;
  }

  begin(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  live(event: LiveEvent): string | undefined {
    return this.isEnded ? undefined : this.#say(this.#deltas.live(event)) || undefined;
  }

  entry(entry: Entry): string | undefined {
    if (this.isEnded) return undefined;
    const words = this.#say(this.#deltas.entry(entry));
    const ending = this.isEnded ? undefined : this.#endingOf(entry);
    if (ending === undefined) return words || undefined;
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

  #say(delta: AnswerDelta | undefined): string {
    if (delta === undefined) return "";
    const { voided, words } = delta;
    const taken = voided === 0 ? "" : this.#takeBack(voided);
    return this.isEnded || words === "" ? taken : taken + this.#chunk({ content: words });
  }

  /** Handles text at the client that is not part of the answer. */
  #takeBack(voided: number): string {
    if (this.#options.includeVoided) return this.#chunk({}, null, { voided });
    return this.fault(brokenOff(this.#answering.run));
  }

  #end(ending: AnswerEnding): string {
    const words = this.#say(this.#deltas.ending(ending.finish === "stop" ? ending.text : undefined));
    if (this.isEnded) return words;
    this.isEnded = true;
    const { used } = this.#deltas;
    const call = ending.finish === "call" ? this.#chunk(this.#call(ending)) : "";
    const reason = finishReason(ending, this.#answering.form, used);
    const finish = this.#chunk({}, reason, questionFields(this.#answering, ending));
    const usage = this.#options.includeUsage
      ? data({ ...answerHead(this.#answering, OBJECT), choices: [], usage: usageOf(used) })
      : "";
    return `${words}${call}${finish}${usage}${DONE}`;
  }

  /** A call as a delta; in the present form each call has its index. */
  #call(ending: CallEnding): JsonObject {
    const called = callFields(ending, this.#answering);
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

/** The fault of a stream whose client cannot remove text that is void. */
export function brokenOff(run: string): FaultReport {
  const message = `A reply broke off, and what was streamed of it is void. Run ${run} goes on: send the same request again for its answer.`;
  return new Fault("MODEL_CUT", message).report();
}

function data(value: unknown): string {
  return encodeSse({ data: JSON.stringify(value) });
}
