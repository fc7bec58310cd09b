import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import { CODEC_LIMITS, Fault, isObject } from "@vidro/core";
import type { JsonObject, ModelCall, ModelReply } from "@vidro/core";

/** Builds the reply from the stream of an AI SDK model. */
export class ReplyBuilder {
  readonly #model: string;
  readonly #mostChars: number;
  readonly #calls: ModelCall[] = [];
  #text = "";
  #chars = 0;

  constructor(model: string, mostChars: number) {
    this.#model = model;
    this.#mostChars = mostChars;
  }

  /** Adds a part and returns its text, if it has any; throws when the reply grows too long. */
  take(part: LanguageModelV4StreamPart): string | undefined {
    if (part.type === "text-delta") {
      this.#count(part.delta.length);
      this.#text += part.delta;
      return part.delta;
    }
    if (part.type === "reasoning-delta" || part.type === "tool-input-delta") this.#count(part.delta.length);
    if (part.type === "tool-call" && part.providerExecuted !== true) this.#takeCall(part);
    return undefined;
  }

  /** The whole reply; throws when it is empty. */
  finish({ finishReason, usage }: Extract<LanguageModelV4StreamPart, { type: "finish" }>): ModelReply {
    const { unified } = finishReason;
    if (unified === "interrupted")
      throw new Fault("MODEL_CUT", `${this.#model} ended its answer before it was finished`);
    if (unified === "error") throw new Fault("MODEL_RUBBISH", `${this.#model} stopped because of an error of its own`);
    if (this.#text.trim() === "" && this.#calls.length === 0) throw this.#emptiness(finishReason);
    return {
      model: this.#model,
      text: this.#text,
      calls: this.#calls,
      usage: { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 },
      ...(unified === "length" ? { cutShort: true as const } : {}),
    };
  }

  #takeCall(part: LanguageModelV4ToolCall): void {
    // Most packages streamed the input before, where it was counted; otherwise it is bounded here.
    this.#count(part.toolCallId.length + part.toolName.length);
    if (part.input.length > this.#mostChars) this.#count(part.input.length);
    this.#calls.push({ id: part.toolCallId, tool: part.toolName, input: inputOf(part.input) });
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars <= this.#mostChars) return;
    throw new Fault("MODEL_RUBBISH", `${this.#model} gave an answer of more than ${this.#mostChars} characters`);
  }

  #emptiness({ unified, raw }: LanguageModelV4FinishReason): Fault {
    if (unified === "content-filter")
      return new Fault("MODEL_REFUSED", `${this.#model} withheld its answer (${raw ?? unified})`);
    return new Fault("MODEL_RUBBISH", `${this.#model} gave an empty answer (${raw ?? unified})`);
  }
}

/** The input of a call: the parsed object if it is shallow enough, otherwise the text as the model gave it. */
function inputOf(text: string): JsonObject | string {
  // Many models send no input for a tool without parameters.
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isShallow(value) ? value : text;
  } catch {
    return text;
  }
}

/** Whether a value is shallow enough for recursive code. */
function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > CODEC_LIMITS.jsonDepth) return false;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return true;
}
