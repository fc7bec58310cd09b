import { Fault, HTTP_LIMITS, thinkingIn, usageIn } from "@vidro/core";
import { questionName, readQuestionName } from "@vidro/core/run";
import type { Action, Entry, Json, JsonObject, ModelReplied, QuestionAsked, ToolSpec, Usage } from "@vidro/core";
import { endText } from "@vidro/core/run";
import type { Runs } from "../../run/runs.ts";
import { endsTurn, questionShape, questionText } from "../question-words.ts";
import type { RouteCall } from "../../http/route.ts";
import type { Form } from "./request.ts";
import { AnswerProgress } from "./answer-progress.ts";
import { faultOfRun } from "../run-fault.ts";
import { callerName } from "./tool-names.ts";

/** An answer: its run, and the entry after which it begins. */
export interface AnswerContext {
  readonly run: string;
  /** The last entry that an earlier answer covered. */
  readonly after: number;
  /** The `model` of the answer: the agent's name. */
  readonly model: string;
  /** Time of the request, in milliseconds since the epoch. */
  readonly at: number;
  /** The tools of the run. */
  readonly tools: readonly ToolSpec[];
}

/** An answer on the chat wire, and the form of its calls. */
export interface ChatAnswer extends AnswerContext {
  readonly form: Form;
  /** Whether the client wants to see what the model thinks. */
  readonly includeReasoning: boolean;
}

/** An answer that is over. */
export interface WholeAnswer {
  readonly ending: AnswerEnding;
  readonly words: AnswerText;
}

/**
 * What ends an answer. A run that asks its caller for a call, or a person a question, ends its answer there and goes on
 * with the caller's next request.
 */
export type AnswerEnding =
  | { readonly finish: "stop"; readonly text: string; readonly question?: QuestionAsked }
  | CallEnding;

/** The end of an answer at a call of the caller's tool. */
export interface CallEnding {
  readonly finish: "call";
  readonly id: string;
  readonly call: Action;
}

/** The ending if an entry ends the answer, else undefined; throws the Fault of a run that failed or was aborted. */
export function answerEnding({ event }: Entry, run: string): AnswerEnding | undefined {
  switch (event.type) {
    case "question.asked":
      if (event.about.kind === "call") return { finish: "call", id: callId(run, event.id), call: event.about.call };
      return endsTurn(event) ? { finish: "stop", text: questionText(event, run), question: event } : undefined;
    case "run.finished":
      return { finish: "stop", text: endText(event) };
    case "run.failed":
    case "run.aborted":
      throw faultOfRun(event);
    default:
      return undefined;
  }
}

/** The id of a call, which names the waiting run and its question. */
export function callId(run: string, question: string): string {
  return `call_${questionName(run, question)}`;
}

/** The run and question in a call id of ours; undefined for a foreign id. */
export function readCallId(id: string): { readonly run: string; readonly question: string } | undefined {
  return id.startsWith("call_") ? readQuestionName(id.slice("call_".length)) : undefined;
}

/** Follows a run to the end of the answer, reports its progress, and returns the whole answer. */
export async function wholeAnswer(
  runs: Runs,
  answering: Pick<AnswerContext, "run" | "after">,
  { signal, tell }: Pick<RouteCall, "signal" | "tell">,
): Promise<WholeAnswer> {
  const words = new AnswerText();
  const telling = new AnswerProgress(answering.run, tell);
  for await (const followed of runs.follow(answering.run, answering.after, signal)) {
    if (!("entry" in followed)) continue;
    words.add(followed.entry);
    telling.entry(followed.entry);
    const ending = answerEnding(followed.entry, answering.run);
    if (ending !== undefined) return { ending, words };
  }
  const message = `The brain stopped before run ${answering.run} was over; it goes on later.`;
  throw new Fault("SHUTTING_DOWN", message, { retryAfterMs: HTTP_LIMITS.returnMs });
}

/** Token usage of the part of a run that one answer covers, and the separator between its replies. */
export class UsageTally implements Usage {
  inputTokens = 0;
  outputTokens = 0;
  cachedTokens = 0;
  thinkingTokens = 0;
  /** Whether the last reply reached its length limit. */
  cutShort = false;
  /** Separator between the text so far and further text. */
  parting = "";
  #last = "";

  /** Counts an entry. */
  add({ event }: Pick<Entry, "event">): void {
    const usage = usageIn(event);
    this.inputTokens += usage?.inputTokens ?? 0;
    this.outputTokens += usage?.outputTokens ?? 0;
    this.cachedTokens += usage?.cachedTokens ?? 0;
    this.thinkingTokens += usage?.thinkingTokens ?? 0;
    if (event.type !== "model.replied") return;
    this.cutShort = event.cutShort === true;
    this.#last = event.text;
    if (event.text !== "") this.parting = "\n\n";
  }

  /** The part of the final text that was not sent yet: nothing when the last reply was that text. */
  missingPart(text: string): string {
    return text === this.#last ? "" : text;
  }
}

/**
 * All text of the model in the part of a run that one answer covers. Text before a tool call belongs to the answer, as
 * it does in a stream: while it arrives it is not known that a call will follow.
 */
export class AnswerText {
  readonly used = new UsageTally();
  /** The thinking of each reply that has some. */
  readonly thoughts: string[] = [];
  /** How many of the thoughts came before the first words. */
  thoughtsBeforeWords = 0;
  #said = "";

  /** Adds an entry. */
  add(entry: Pick<Entry, "event">): void {
    const { parting } = this.used;
    this.used.add(entry);
    if (entry.event.type !== "model.replied") return;
    const thought = thinkingOf(entry.event);
    if (thought !== "") this.thoughts.push(thought);
    if (this.#said === "") this.thoughtsBeforeWords = this.thoughts.length;
    if (entry.event.text !== "") this.#said += parting + entry.event.text;
  }

  /** The whole text of an answer that ends with `text`. */
  wholeText(text = ""): string {
    const missing = this.used.missingPart(text);
    return missing === "" ? this.#said : this.#said + this.used.parting + missing;
  }
}

/** The model's thinking before a reply. */
export function thinkingOf({ parts }: ModelReplied): string {
  return parts === undefined ? "" : thinkingIn(parts);
}

/** The first fields of every object of one answer. */
export function answerHead(answering: AnswerContext, object: string): { readonly [field: string]: Json } {
  const { run, after, at, model } = answering;
  return { id: `chatcmpl-${run}-${after}`, object, created: Math.floor(at / 1000), model };
}

/** Token usage in the wire's format. */
export function usageOf({ inputTokens, outputTokens, cachedTokens = 0, thinkingTokens = 0 }: Usage): JsonObject {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens === 0 ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(thinkingTokens === 0 ? {} : { completion_tokens_details: { reasoning_tokens: thinkingTokens } }),
  };
}

/** `finish_reason` of an answer. */
export function finishReason({ finish }: AnswerEnding, form: Form, { cutShort }: UsageTally): string {
  if (finish === "stop") return cutShort ? "length" : "stop";
  return form === "tools" ? "tool_calls" : "function_call";
}

/** The text that the model wrote for a tool that takes text. */
export function customInput({ input: { input } }: Action): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? "");
}

/** A call in the wire's format. */
export function callFields({ id, call }: CallEnding, { form, tools }: ChatAnswer): JsonObject {
  const { name, custom } = callerName(tools, call.tool);
  if (custom === true) return { tool_calls: [{ id, type: "custom", custom: { name, input: customInput(call) } }] };
  const called = { name, arguments: JSON.stringify(call.input) };
  return form === "tools" ? { tool_calls: [{ id, type: "function", function: called }] } : { function_call: called };
}

/** The question that ends an answer, as fields for callers that show it themselves; empty for any other end. */
export function questionFields({ run }: AnswerContext, ending: AnswerEnding): JsonObject {
  if (ending.finish !== "stop" || ending.question === undefined) return {};
  return { question: questionShape(ending.question, run) };
}

/** The whole answer as a chat completion. */
export function completion(answering: ChatAnswer, { ending, words }: WholeAnswer): JsonObject {
  const { used } = words;
  const said =
    ending.finish === "stop"
      ? { content: words.wholeText(ending.text) }
      : { content: words.wholeText() || null, ...callFields(ending, answering) };
  const thinking = words.thoughts.join("");
  const thought = answering.includeReasoning && thinking !== "" ? { reasoning_content: thinking } : {};
  const message = { role: "assistant", ...said, ...thought, refusal: null };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(ending, answering.form, used) };
  return {
    ...answerHead(answering, "chat.completion"),
    choices: [choice],
    usage: usageOf(used),
    ...questionFields(answering, ending),
  };
}
