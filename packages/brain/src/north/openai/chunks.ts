import { encodeSse } from "@vidro/core/codec";
import type { FaultReport, JsonObject } from "@vidro/core";
import { questionFields, callFields, finishReason, answerHead, usageOf } from "./answer.ts";
import type { AnswerEnding, CallEnding, ChatAnswer } from "./answer.ts";
import type { AnswerDelta } from "./answer-deltas.ts";
import { faultBody } from "./fault-body.ts";
import { SseAnswerEncoder } from "./sse-answer.ts";

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
export class ChunkEncoder extends SseAnswerEncoder {
  readonly #answering: ChatAnswer;
  readonly #options: ChunkOptions;

  constructor(answering: ChatAnswer, options: ChunkOptions) {
    super(answering.run);
    this.#answering = answering;
    this.#options = options;
  }

  begin(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  protected think(text: string): string {
    return this.#answering.includeReasoning ? this.#chunk({ reasoning_content: text }) : "";
  }

  fault(fault: FaultReport): string {
    this.isEnded = true;
    return data(faultBody(fault));
  }

  protected say(delta: AnswerDelta | undefined): string {
    if (delta === undefined) return "";
    const { voided, words } = delta;
    const taken = voided === 0 ? "" : this.#takeBack(voided);
    return this.isEnded || words === "" ? taken : taken + this.#chunk({ content: words });
  }

  /** Handles text at the client that is not part of the answer. */
  #takeBack(voided: number): string {
    if (this.#options.includeVoided) return this.#chunk({}, null, { voided });
    return this.breakOff();
  }

  protected finish(ending: AnswerEnding): string {
    const words = this.say(this.deltas.endWith(ending.finish === "stop" ? ending.text : undefined));
    if (this.isEnded) return words;
    this.isEnded = true;
    const { used } = this.deltas;
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

function data(value: unknown): string {
  return encodeSse({ data: JSON.stringify(value) });
}
