import { encodeSse } from "@vidro/core/codec";
import type { Entry, FaultReport, JsonObject } from "@vidro/core";
import type { AnswerEnding, CallEnding } from "../answer.ts";
import type { AnswerDelta } from "../answer-deltas.ts";
import { SseAnswerEncoder } from "../sse-answer.ts";
import {
  callItem,
  endStatus,
  messageId,
  messageItem,
  responseShape,
  showsThinking,
  textPart,
  thoughtItem,
  thoughtPart,
} from "./shape.ts";
import type { ResponseAnswer, ResponseProgress } from "./shape.ts";

/**
 * A response as server-sent events, each with the next `sequence_number`: the response begins, its thinking, message and
 * call arrive, and the whole response ends the stream. One item is open at a time: thinking that comes after the first
 * words is told behind the message. Thinking of a reply that broke off stays an item of the stream. A client of this wire cannot take text back: where text that was sent
 * is void, the response fails.
 */
export class ResponseEncoder extends SseAnswerEncoder {
  readonly #answering: ResponseAnswer;
  readonly #output: JsonObject[] = [];
  #sequence = 0;
  /** The text of the message; undefined until its first word. */
  #text: string | undefined;
  /** Place of the message among the items. */
  #messageIndex = 0;
  /** The thinking of the open item; undefined when none is open. */
  #thought: string | undefined;
  /** How many items of thinking were opened. */
  #thoughts = 0;
  /** Thinking of the arriving reply that is told behind the message, and of the replies before it. */
  #late = "";
  readonly #lateThoughts: string[] = [];

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

  override entry(entry: Entry): string | undefined {
    const encoded = super.entry(entry) ?? "";
    if (entry.event.type !== "model.replied" || this.isEnded) return encoded || undefined;
    if (this.#late !== "") this.#lateThoughts.push(this.#late);
    this.#late = "";
    return encoded + this.#closeThought() || undefined;
  }

  protected think(text: string, from: number): string {
    if (!showsThinking(this.#answering)) return "";
    if (this.#text !== undefined) {
      this.#late = from === 0 ? text : this.#late + text;
      return "";
    }
    const closed = from === 0 ? this.#closeThought() : "";
    const opened = this.#thought === undefined ? this.#openThought() : "";
    this.#thought += text;
    return (
      closed + opened + this.#event("response.reasoning_summary_text.delta", { ...this.#thoughtPlace(), delta: text })
    );
  }

  #openThought(): string {
    this.#thought = "";
    this.#thoughts += 1;
    const item = thoughtItem(this.#answering, this.#thoughts - 1);
    const added = this.#event("response.output_item.added", { output_index: this.#output.length, item });
    return (
      added + this.#event("response.reasoning_summary_part.added", { ...this.#thoughtPlace(), part: thoughtPart("") })
    );
  }

  #closeThought(): string {
    if (this.#thought === undefined) return "";
    const text = this.#thought;
    const where = this.#thoughtPlace();
    const item = thoughtItem(this.#answering, this.#thoughts - 1, text);
    const ended =
      this.#event("response.reasoning_summary_text.done", { ...where, text }) +
      this.#event("response.reasoning_summary_part.done", { ...where, part: thoughtPart(text) }) +
      this.#event("response.output_item.done", { output_index: this.#output.length, item });
    this.#thought = undefined;
    this.#output.push(item);
    return ended;
  }

  /** Where the text of the open thinking is. */
  #thoughtPlace(): JsonObject {
    const { id } = thoughtItem(this.#answering, this.#thoughts - 1);
    return { item_id: id, output_index: this.#output.length, summary_index: 0 };
  }

  /** The thinking that came while the message was open. */
  #tellLate(): string {
    this.#text = undefined;
    return this.#lateThoughts.map((thought) => this.think(thought, 0) + this.#closeThought()).join("");
  }

  protected say(delta: AnswerDelta | undefined): string {
    if (delta === undefined) return "";
    if (delta.voided > 0) return this.breakOff();
    const opening = this.#text === undefined ? this.#openMessage() : "";
    this.#text += delta.words;
    return opening + this.#event("response.output_text.delta", { ...this.#part(), delta: delta.words, logprobs: [] });
  }

  #openMessage(): string {
    const closed = this.#closeThought();
    this.#text = "";
    this.#messageIndex = this.#output.length;
    const item = messageItem(this.#answering, undefined, "in_progress");
    const added = this.#event("response.output_item.added", { output_index: this.#messageIndex, item });
    return closed + added + this.#event("response.content_part.added", { ...this.#part(), part: textPart("") });
  }

  #closeMessage(status: string): string {
    const text = this.#text ?? "";
    const item = messageItem(this.#answering, text, status);
    this.#output.push(item);
    return (
      this.#event("response.output_text.done", { ...this.#part(), text, logprobs: [] }) +
      this.#event("response.content_part.done", { ...this.#part(), part: textPart(text) }) +
      this.#event("response.output_item.done", { output_index: this.#messageIndex, item })
    );
  }

  /** Where the text of the message is. */
  #part(): JsonObject {
    return { item_id: messageId(this.#answering), output_index: this.#messageIndex, content_index: 0 };
  }

  protected finish(ending: AnswerEnding): string {
    const words = this.say(this.deltas.endWith(ending.finish === "stop" ? ending.text : undefined));
    if (this.isEnded) return words;
    const { used } = this.deltas;
    const status = endStatus(ending, used);
    // An answer without words is an empty message; a call needs none.
    const opened = this.#text === undefined && ending.finish === "stop" ? this.#openMessage() : "";
    const message = this.#text === undefined ? "" : this.#closeMessage(status);
    const thoughts = this.#closeThought() + this.#tellLate();
    const call = ending.finish === "call" ? this.#call(ending) : "";
    return words + opened + message + thoughts + call + this.#over(`response.${status}`, { status, used, ending });
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
