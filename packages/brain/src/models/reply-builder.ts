import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { thinkingFieldsOf } from "./ai-sdk/compatible-thinking.ts";
import { WRITTEN } from "./ai-sdk/tagged-text.ts";
import { CODEC_LIMITS, Fault, isObject, isWorthKeeping } from "@vidro/core";
import type { JsonObject, ModelCall, ModelReply, ReplyPart, Usage } from "@vidro/core";

/** A text or a passage of thinking that may still grow. */
interface DraftPassage {
  kind: "text" | "thinking";
  text: string;
  opaque: JsonObject | undefined;
}

type DraftPart =
  | DraftPassage
  | (Omit<Extract<ReplyPart, { kind: "call" }>, "opaque"> & { readonly opaque: JsonObject | undefined });

/** The part of the stream that begins, continues or ends a passage. */
type PassagePart = Pick<Extract<LanguageModelV4StreamPart, { type: "text-start" }>, "id" | "providerMetadata">;

/** Builds the reply from the stream of an AI SDK model. */
export class ReplyBuilder {
  readonly #model: string;
  readonly #mostChars: number;
  readonly #calls: ModelCall[] = [];
  readonly #parts: DraftPart[] = [];
  /** Texts and thinking by the kind and id that the vendor gave them. */
  readonly #passages = new Map<string, DraftPassage>();
  #text = "";
  #chars = 0;

  constructor(model: string, mostChars: number) {
    this.#model = model;
    this.#mostChars = mostChars;
  }

  /** Adds a part and returns its text, if it has any; throws when the reply grows too long. */
  take(part: LanguageModelV4StreamPart): string | undefined {
    switch (part.type) {
      case "text-start":
        this.#passage("text", part);
        return undefined;
      case "text-end":
        this.#endText(part);
        return undefined;
      case "text-delta":
        this.#passage("text", part).text += part.delta;
        this.#text += part.delta;
        this.#count(part.delta.length);
        return part.delta;
      case "reasoning-start":
      case "reasoning-end":
        this.#passage("thinking", part);
        return undefined;
      case "reasoning-delta":
        this.#passage("thinking", part).text += part.delta;
        this.#count(part.delta.length);
        return undefined;
      case "tool-input-delta":
        this.#count(part.delta.length);
        return undefined;
      case "tool-call":
        if (part.providerExecuted !== true) this.#takeCall(part);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The whole reply; throws when it is empty. */
  finish({
    finishReason,
    usage,
    providerMetadata,
  }: Extract<LanguageModelV4StreamPart, { type: "finish" }>): ModelReply {
    const { unified } = finishReason;
    if (unified === "interrupted")
      throw new Fault("MODEL_CUT", `${this.#model} ended its answer before it was finished`);
    if (finishReason.raw === "pause_turn")
      throw new Fault("MODEL_CUT", `${this.#model} paused before its answer was finished`);
    if (unified === "content-filter")
      throw new Fault("MODEL_WITHHELD", `${this.#model} withheld its answer (${finishReason.raw ?? unified})`);
    if (finishReason.raw === "model_context_window_exceeded")
      throw new Fault("MODEL_CONTEXT_FULL", `${this.#model} reached the end of its window`);
    if (finishReason.raw === "insufficient_system_resource")
      throw new Fault("MODEL_UNAVAILABLE", `${this.#model} had no room left for its answer (${finishReason.raw})`);
    if (unified === "error") throw new Fault("MODEL_RUBBISH", `${this.#model} stopped because of an error of its own`);
    if (this.#text.trim() === "" && this.#calls.length === 0) throw this.#emptiness(finishReason);
    return {
      model: this.#model,
      text: this.#text,
      calls: this.#calls,
      ...this.#keptParts(providerMetadata),
      usage: usedTokens(usage),
      ...(unified === "length" ? { cutShort: true as const } : {}),
    };
  }

  #endText(part: PassagePart): void {
    const passage = this.#passage("text", part);
    if (part.providerMetadata?.[WRITTEN]?.["thinking"] !== true) return;
    // The text so far was thinking whose opening tag stood in the prompt.
    this.#text = this.#text.slice(passage.text.length);
    passage.kind = "thinking";
    passage.opaque = { [WRITTEN]: { tag: "think" } };
  }

  #takeCall(part: LanguageModelV4ToolCall): void {
    // Most packages streamed the input before, where it was counted; otherwise it is bounded here.
    this.#count(part.toolCallId.length + part.toolName.length);
    if (part.input.length > this.#mostChars) this.#count(part.input.length);
    const input = inputOf(part.input);
    const isWritten = part.providerMetadata?.[WRITTEN] !== undefined;
    this.#calls.push({ id: part.toolCallId, tool: part.toolName, input, ...(isWritten ? { written: true } : {}) });
    const call = { callId: part.toolCallId, tool: part.toolName, input: typeof input === "string" ? {} : input };
    const metadata = isWritten ? undefined : part.providerMetadata;
    this.#parts.push({ kind: "call", ...call, opaque: this.#opaque(undefined, metadata) });
  }

  /** The text or thinking with this id; the vendor's data of its start, pieces and end is one object. */
  #passage(kind: DraftPassage["kind"], part: PassagePart): DraftPassage {
    const key = `${kind} ${part.id}`;
    const passage = this.#passages.get(key) ?? { kind, text: "", opaque: undefined };
    if (!this.#passages.has(key)) {
      this.#passages.set(key, passage);
      this.#parts.push(passage);
    }
    passage.opaque = this.#opaque(passage.opaque, part.providerMetadata);
    return passage;
  }

  #opaque(before: JsonObject | undefined, metadata: SharedV4ProviderMetadata | undefined): JsonObject | undefined {
    if (metadata === undefined) return before;
    const added = JSON.stringify(metadata);
    this.#count(added.length);
    const merged: { [vendor: string]: JsonObject } = { ...(before as { [vendor: string]: JsonObject }) };
    for (const [vendor, data] of Object.entries(JSON.parse(added) as { [vendor: string]: JsonObject }))
      merged[vendor] = { ...merged[vendor], ...data };
    return merged;
  }

  #keptParts(metadata: SharedV4ProviderMetadata | undefined): Pick<ModelReply, "parts"> {
    const opaque = thinkingFieldsOf(metadata);
    if (opaque !== undefined) this.#count(JSON.stringify(opaque).length);
    const parts = { items: this.#parts.flatMap(partOf), ...(opaque === undefined ? {} : { opaque }) };
    return isWorthKeeping(parts) ? { parts } : {};
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars <= this.#mostChars) return;
    throw new Fault("MODEL_RUBBISH", `${this.#model} gave an answer of more than ${this.#mostChars} characters`);
  }

  #emptiness({ unified, raw }: LanguageModelV4FinishReason): Fault {
    return new Fault("MODEL_RUBBISH", `${this.#model} gave an empty answer (${raw ?? unified})`);
  }
}

/** The tokens of a call; parts that a server does not count are absent. */
function usedTokens({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const { cacheRead = 0, cacheWrite = 0 } = inputTokens;
  const { reasoning = 0 } = outputTokens;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(cacheRead === 0 ? {} : { cachedTokens: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cacheWriteTokens: cacheWrite }),
    ...(reasoning === 0 ? {} : { thinkingTokens: reasoning }),
  };
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

/** The part without fields that are not there; a text without words and without data is no part. */
function partOf({ opaque, ...part }: DraftPart): readonly ReplyPart[] {
  const isEmpty = part.kind === "text" && part.text === "" && opaque === undefined;
  if (isEmpty) return [];
  return [opaque === undefined ? part : { ...part, opaque }];
}
