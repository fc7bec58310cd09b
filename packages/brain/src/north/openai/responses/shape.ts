import { isObject } from "@vidro/core";
import type { FaultReport, JsonObject } from "@vidro/core";
import { customInput, questionFields } from "../answer.ts";
import type { AnswerContext, AnswerEnding, CallEnding, UsageTally, WholeAnswer } from "../answer.ts";
import { callerName } from "../tool-names.ts";

/* A response and its items, as JSON. Ids name the run and the entry after which the response begins. */

/** A response: an answer, and the fields of its request that it repeats. */
export interface ResponseAnswer extends AnswerContext {
  readonly echo: JsonObject;
}

/** Where an answer is. */
type Place = Pick<AnswerContext, "run" | "after">;

/** The id of a response. */
export function responseId({ run, after }: Place): string {
  return `resp_${run}_${after}`;
}

/** The id of the message of a response. */
export function messageId({ run, after }: Place): string {
  return `msg_${run}_${after}`;
}

/** Whether an id is that of thinking. */
export function isThoughtId(id: string): boolean {
  return id.startsWith("rs_");
}

/** Whether the client of a response asked for the model's thinking. */
export function showsThinking({ echo: { reasoning } }: ResponseAnswer): boolean {
  return isObject(reasoning) && typeof reasoning["summary"] === "string";
}

/** The thinking before a reply; `index` is its number in the response, `text` is undefined while it has none. */
export function thoughtItem({ run, after }: Place, index: number, text?: string): JsonObject {
  const summary = text === undefined ? [] : [thoughtPart(text)];
  return { id: `rs_${run}_${after}_${index}`, type: "reasoning", summary };
}

/** A text as the part of thinking. */
export function thoughtPart(text: string): JsonObject {
  return { type: "summary_text", text };
}

/** The response that an item of it belongs to; undefined for an id that is not ours. */
export function readItemId(id: string): Place | undefined {
  const [, run, after] = /^(?:msg|fc|ctc)_(run_.+)_(\d+)$/.exec(id) ?? [];
  return run === undefined ? undefined : { run, after: Number(after) };
}

/** A text as the part of a message. */
export function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** The message of a response; `text` is undefined while nothing was said. */
export function messageItem(place: Place, text: string | undefined, status: string): JsonObject {
  const content = text === undefined ? [] : [textPart(text)];
  return { id: messageId(place), type: "message", status, role: "assistant", content };
}

/** The call of a response; `isBegun` leaves its input out, as a stream does at first. */
export function callItem(answering: AnswerContext, { id, call }: CallEnding, isBegun = false): JsonObject {
  const { run, after, tools } = answering;
  const { name, namespace, custom } = callerName(tools, call.tool);
  const where = { call_id: id, name, ...(namespace === undefined ? {} : { namespace }) };
  const status = isBegun ? "in_progress" : "completed";
  if (custom === true) {
    const input = isBegun ? "" : customInput(call);
    return { id: `ctc_${run}_${after}`, type: "custom_tool_call", status, input, ...where };
  }
  const text = isBegun ? "" : JSON.stringify(call.input);
  return { id: `fc_${run}_${after}`, type: "function_call", status, arguments: text, ...where };
}

/** The items of a whole answer. Thinking after the first words stands behind the message, which is one for all replies. */
export function outputItems(answering: ResponseAnswer, { ending, words }: WholeAnswer): readonly JsonObject[] {
  const text = words.wholeText(ending.finish === "stop" ? ending.text : undefined);
  const status = words.used.cutShort && ending.finish === "stop" ? "incomplete" : "completed";
  const said = text === "" && ending.finish === "call" ? [] : [messageItem(answering, text, status)];
  const shown = showsThinking(answering) ? words.thoughts : [];
  const thoughts = shown.map((thought, index) => thoughtItem(answering, index, thought));
  return [
    ...thoughts.slice(0, words.thoughtsBeforeWords),
    ...said,
    ...thoughts.slice(words.thoughtsBeforeWords),
    ...(ending.finish === "call" ? [callItem(answering, ending)] : []),
  ];
}

/** How far a response is. */
export interface ResponseProgress {
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly output?: readonly JsonObject[];
  readonly used?: UsageTally;
  readonly ending?: AnswerEnding;
  readonly fault?: FaultReport;
}

/** The progress of a response whose answer is whole. */
export function wholeProgress(answering: ResponseAnswer, whole: WholeAnswer): ResponseProgress {
  const { ending, words } = whole;
  return { status: endStatus(ending, words.used), output: outputItems(answering, whole), used: words.used, ending };
}

/** The status of a response that has ended. */
export function endStatus({ finish }: AnswerEnding, { cutShort }: UsageTally): "completed" | "incomplete" {
  return finish === "stop" && cutShort ? "incomplete" : "completed";
}

/** The response as JSON. */
export function responseShape(answering: ResponseAnswer, progress: ResponseProgress): JsonObject {
  const { status, output = [], used, ending, fault } = progress;
  const { at, model, echo } = answering;
  return {
    id: responseId(answering),
    object: "response",
    created_at: Math.floor(at / 1000),
    status,
    error: fault === undefined ? null : { code: fault.code, message: fault.message },
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    model,
    output,
    usage: used === undefined ? null : usageShape(used),
    ...echo,
    ...(ending === undefined ? {} : questionFields(answering, ending)),
  };
}

function usageShape({ inputTokens, outputTokens, cachedTokens, thinkingTokens }: UsageTally): JsonObject {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thinkingTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
