import { encodeSse } from "@vidro/core/codec";
import type { FaultReport, JsonObject } from "@vidro/core";
import type { AnswerEnding, CallEnding } from "../answer.ts";
import type { AnswerDelta } from "../answer-deltas.ts";
import { SseAnswerEncoder } from "../sse-answer.ts";
import { callItem, endStatus, messageId, messageItem, responseShape, textPart } from "./shape.ts";
import type { ResponseAnswer, ResponseProgress } from "./shape.ts";

/**
 * A response as server-sent events, each with the next `sequence_number`: the response begins, its message and call
 * arrive, and the whole response ends the stream. A client of this wire cannot take text back: where text that was sent
 * is void, the response fails.
 */
export class ResponseEncoder extends SseAnswerEncoder {
  readonly #answering: ResponseAnswer;
  readonly #output: JsonObject[] = [];
  #sequence = 0;
  /** The text of the message; undefined until its first word. */
  #text: string | undefined;

  constructor(answering: ResponseAnswer) {
    super(answering.run);
    this.#answering = answering;
  }

  begin(): string {
    const response = responseShape(this.#answering, { status: "in_progress" });
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response });
  }

  fault(fault: FaultReport): string {
    return this.#over("response.failed", { status: "failed", fault });
  }

  protected say(delta: AnswerDelta | undefined): string {
    if (delta === undefined) return "";
    if (delta.voided > 0) return this.breakOff();
    const opening = this.#text === undefined ? this.#openMessage() : "";
    this.#text += delta.words;
    return opening + this.#event("response.output_text.delta", { ...this.#part(), delta: delta.words, logprobs: [] });
  }

  #openMessage(): string {
    this.#text = "";
    const item = messageItem(this.#answering, undefined, "in_progress");
    const added = this.#event("response.output_item.added", { output_index: 0, item });
    return added + this.#event("response.content_part.added", { ...this.#part(), part: textPart("") });
  }

  #closeMessage(status: string): string {
    const text = this.#text ?? "";
    const item = messageItem(this.#answering, text, status);
    this.#output.push(item);
    return (
      this.#event("response.output_text.done", { ...this.#part(), text, logprobs: [] }) +
      this.#event("response.content_part.done", { ...this.#part(), part: textPart(text) }) +
      this.#event("response.output_item.done", { output_index: 0, item })
    );
  }

  /** Where the text of the message is. */
  #part(): JsonObject {
    return { item_id: messageId(this.#answering), output_index: 0, content_index: 0 };
  }

  protected finish(ending: AnswerEnding): string {
    const words = this.say(this.deltas.endWith(ending.finish === "stop" ? ending.text : undefined));
    if (this.isEnded) return words;
    const { used } = this.deltas;
    const status = endStatus(ending, used);
    // An answer without words is an empty message; a call needs none.
    const opened = this.#text === undefined && ending.finish === "stop" ? this.#openMessage() : "";
    const message = this.#text === undefined ? "" : this.#closeMessage(status);
    const call = ending.finish === "call" ? this.#call(ending) : "";
    return words + opened + message + call + this.#over(`response.${status}`, { status, used, ending });
  }

  #call(ending: CallEnding): string {
    const answering = this.#answering;
    const index = { output_index: this.#output.length };
    const item = callItem(answering, ending);
    this.#output.push(item);
    const where = { item_id: item["id"], ...index };
    const added = this.#event("response.output_item.added", { ...index, item: callItem(answering, ending, true) });
    const done = { ...index, item };
    if (item["type"] === "custom_tool_call") {
      const { input } = item;
      return (
        added +
        this.#event("response.custom_tool_call_input.delta", { ...where, delta: input }) +
        this.#event("response.custom_tool_call_input.done", { ...where, input }) +
        this.#event("response.output_item.done", done)
      );
    }
    const { arguments: text, name } = item;
    return (
      added +
      this.#event("response.function_call_arguments.delta", { ...where, delta: text }) +
      this.#event("response.function_call_arguments.done", { ...where, name, arguments: text }) +
      this.#event("response.output_item.done", done)
    );
  }

  #over(type: string, progress: ResponseProgress): string {
    this.isEnded = true;
    const response = responseShape(this.#answering, { ...progress, output: this.#output });
    return this.#event(type, { response });
  }

  #event(type: string, fields: JsonObject): string {
    const data = JSON.stringify({ type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
    return encodeSse({ event: type, data });
  }
}
