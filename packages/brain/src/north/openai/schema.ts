import { CHAT_LIMITS, FILE_LIMITS, HTTP_LIMITS, RUN_LIMITS, SAMPLING_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { PARAMS } from "../sampling.ts";
import type { Params } from "../sampling.ts";

/* Types and schemas of the chat wire. Which of its parameters are taken is said in parameters.ts. */

/** A file in a message: its name, and its bytes as a data: address. */
export interface SentFile {
  readonly filename?: string;
  readonly file_data?: string;
}

/** A part of a message: text, an image, or a file. */
export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
  readonly file?: SentFile;
}

/** One message of a request. */
export interface ChatMessage {
  readonly role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
  readonly content?: string | readonly ContentPart[] | null;
  readonly name?: string | null;
  readonly tool_call_id?: string | null;
  readonly tool_calls?: readonly ToolCall[] | null;
  readonly function_call?: ChatCall | null;
}

/** A call of a function, or of a tool that takes text. */
interface ToolCall {
  readonly id: string;
  readonly function?: ChatCall;
  readonly custom?: { readonly name: string; readonly input: string };
}

/** A call as the wire writes it; the arguments are text. */
export interface ChatCall {
  readonly name: string;
  readonly arguments: string;
}

/** A function that a caller offers. */
interface ChatFunction {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: JsonObject | null;
  readonly strict?: boolean | null;
}

/** A request that fits `CHAT_REQUEST`. */
export interface ChatRequest extends Params {
  readonly model?: string | null;
  readonly messages: readonly ChatMessage[];
  readonly functions?: readonly ChatFunction[] | null;
  readonly function_call?: string | { readonly name: string } | null;
  readonly tools?:
    | readonly { readonly type: string; readonly function?: ChatFunction; readonly custom?: ChatFunction }[]
    | null;
  readonly tool_choice?:
    | string
    | {
        readonly type: string;
        readonly function?: { readonly name: string };
        readonly custom?: { readonly name: string };
        readonly allowed_tools?: JsonObject;
      }
    | null;
  readonly stream?: boolean | null;
  readonly stream_options?: {
    readonly include_usage?: boolean | null;
    /** The client removes text when a chunk has `voided`; an extension of ours. */
    readonly include_voided?: boolean | null;
  } | null;
  /** Thinking comes as `reasoning_content`; an extension of servers of open models. */
  readonly include_reasoning?: boolean | null;
  readonly n?: number | null;
  /** Newer name of `max_tokens`. */
  readonly max_completion_tokens?: number | null;
  readonly frequency_penalty?: number | null;
  readonly presence_penalty?: number | null;
  readonly seed?: number | null;
  readonly modalities?: readonly string[] | null;
}

const object = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: "object",
  properties,
  required,
});
const NAMED = { type: "string", minLength: 1, maxLength: CHAT_LIMITS.nameChars };
const TEXT = { type: "string", maxLength: RUN_LIMITS.taskChars };
const ID = { type: "string", minLength: 1, maxLength: 256 };

/** The type of a field that may also be null. */
const orNull = (schema: JsonObject): JsonObject => ({ ...schema, type: [schema["type"], "null"] as Json });

const CALL = object({ name: NAMED, arguments: TEXT }, "name", "arguments");

const FUNCTION = object(
  {
    name: NAMED,
    description: orNull(TEXT),
    parameters: orNull({ type: "object" }),
    strict: orNull({ type: "boolean" }),
  },
  "name",
);

const MESSAGE = object(
  {
    role: { type: "string", enum: ["system", "developer", "user", "assistant", "tool", "function"] },
    content: {
      type: ["string", "array", "null"],
      maxLength: RUN_LIMITS.taskChars,
      maxItems: CHAT_LIMITS.parts,
      items: object(
        {
          type: { type: "string" },
          text: TEXT,
          image_url: object({ url: { type: "string", maxLength: HTTP_LIMITS.bodyBytes } }, "url"),
          file: object({
            filename: { type: "string", maxLength: FILE_LIMITS.nameChars },
            file_data: { type: "string", maxLength: HTTP_LIMITS.bodyBytes },
          }),
        },
        "type",
      ),
    },
    name: orNull(ID),
    tool_call_id: orNull(ID),
    tool_calls: orNull({
      type: "array",
      maxItems: CHAT_LIMITS.calls,
      items: object({ id: ID, function: CALL, custom: object({ name: NAMED, input: TEXT }, "name", "input") }, "id"),
    }),
    function_call: orNull(CALL),
  },
  "role",
);

/** Schema of a ChatCompletionRequest, in its present and its earlier form. */
export const CHAT_REQUEST: JsonObject = object(
  {
    model: orNull({ type: "string", minLength: 1, maxLength: 256 }),
    messages: { type: "array", minItems: 1, maxItems: CHAT_LIMITS.messages, items: MESSAGE },
    functions: orNull({ type: "array", maxItems: CHAT_LIMITS.functions, items: FUNCTION }),
    function_call: { type: ["string", "object", "null"], properties: { name: NAMED }, required: ["name"] },
    tools: orNull({
      type: "array",
      maxItems: CHAT_LIMITS.functions,
      items: object({ type: { type: "string" }, function: FUNCTION, custom: FUNCTION }, "type"),
    }),
    tool_choice: {
      type: ["string", "object", "null"],
      properties: {
        type: { type: "string" },
        function: object({ name: NAMED }, "name"),
        custom: object({ name: NAMED }, "name"),
        allowed_tools: { type: "object" },
      },
      required: ["type"],
    },
    stream: orNull({ type: "boolean" }),
    stream_options: orNull(
      object({ include_usage: orNull({ type: "boolean" }), include_voided: orNull({ type: "boolean" }) }),
    ),
    include_reasoning: orNull({ type: "boolean" }),
    n: orNull({ type: "integer", minimum: 1, maximum: 128 }),
    ...PARAMS,
    temperature: orNull({
      type: "number",
      minimum: SAMPLING_LIMITS.temperature.least,
      maximum: SAMPLING_LIMITS.temperature.most,
    }),
    top_p: orNull({ type: "number", minimum: SAMPLING_LIMITS.topP.least, maximum: SAMPLING_LIMITS.topP.most }),
    max_tokens: orNull({ type: "integer", minimum: SAMPLING_LIMITS.maxTokens.least }),
    max_completion_tokens: orNull({ type: "integer", minimum: SAMPLING_LIMITS.maxTokens.least }),
    frequency_penalty: orNull({ type: "number", minimum: -2, maximum: 2 }),
    presence_penalty: orNull({ type: "number", minimum: -2, maximum: 2 }),
    seed: orNull({ type: "integer" }),
    modalities: orNull({ type: "array", maxItems: CHAT_LIMITS.parts, items: { type: "string" } }),
    response_format: orNull({ type: "object" }),
    provider: { type: ["string", "object", "null"] },
  },
  "messages",
);

const COUNT: Json = { type: "integer", minimum: 0 };

/** Schema of a ChatCompletionResponse. */
export const CHAT_RESPONSE: JsonObject = object(
  {
    id: { type: "string" },
    object: { type: "string", const: "chat.completion" },
    created: COUNT,
    model: { type: "string" },
    choices: { type: "array", items: object({ index: COUNT, message: MESSAGE, finish_reason: { type: "string" } }) },
    usage: object({ prompt_tokens: COUNT, completion_tokens: COUNT, total_tokens: COUNT }),
  },
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
);
