import { CATALOG_LIMITS, CHAT_LIMITS, RUN_LIMITS, SAMPLING_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";

/* Schemas of the responses wire. Which of its parameters are taken is said in parameters.ts. */

const TEXT: JsonObject = { type: "string", maxLength: RUN_LIMITS.taskChars };
const ID: JsonObject = { type: "string", minLength: 1, maxLength: 256 };
const COUNT: JsonObject = { type: "integer", minimum: 0 };
const FLAG: JsonObject = { type: ["boolean", "null"] };

const orNull = (schema: JsonObject): JsonObject => ({ ...schema, type: [schema["type"], "null"] as Json });

const ITEM: JsonObject = {
  type: "object",
  description: "A message, a call of a function or custom tool, the output of such a call, or a reference to an item.",
  properties: { type: { type: "string" }, role: { type: "string" }, id: orNull(ID), call_id: ID },
};

/** Metadata of a response. */
const METADATA: JsonObject = {
  type: ["object", "null"],
  maxProperties: CATALOG_LIMITS.metadataFields,
  additionalProperties: { type: "string", maxLength: CATALOG_LIMITS.metadataChars },
};

/** Schema of a request for a response. */
export const RESPONSE_REQUEST: JsonObject = {
  type: "object",
  required: ["input"],
  properties: {
    model: orNull({ type: "string", minLength: 1, maxLength: 256 }),
    input: { anyOf: [TEXT, { type: "array", minItems: 1, maxItems: CHAT_LIMITS.messages, items: ITEM }] },
    instructions: orNull(TEXT),
    previous_response_id: orNull(ID),
    conversation: { anyOf: [ID, { type: "object", properties: { id: ID }, required: ["id"] }, { type: "null" }] },
    store: FLAG,
    stream: FLAG,
    background: FLAG,
    parallel_tool_calls: FLAG,
    stream_options: { type: ["object", "null"] },
    metadata: METADATA,
    tools: orNull({
      type: "array",
      maxItems: CHAT_LIMITS.functions,
      items: { type: "object", properties: { type: { type: "string" } }, required: ["type"] },
    }),
    tool_choice: {
      anyOf: [
        { type: "string" },
        { type: "object", properties: { type: { type: "string" } }, required: ["type"] },
        { type: "null" },
      ],
    },
    temperature: orNull({
      type: "number",
      minimum: SAMPLING_LIMITS.temperature.least,
      maximum: SAMPLING_LIMITS.temperature.most,
    }),
    top_p: orNull({ type: "number", minimum: SAMPLING_LIMITS.topP.least, maximum: SAMPLING_LIMITS.topP.most }),
    max_output_tokens: orNull({ type: "integer", minimum: SAMPLING_LIMITS.maxTokens.least }),
    max_tool_calls: orNull({ type: "integer", minimum: 1, maximum: RUN_LIMITS.actions }),
    text: { type: ["object", "null"] },
    reasoning: { type: ["object", "null"] },
    include: orNull({ type: "array", maxItems: CHAT_LIMITS.parts, items: { type: "string" } }),
    truncation: orNull({ type: "string" }),
  },
};

/** Schema of a response. */
export const RESPONSE: JsonObject = {
  type: "object",
  properties: {
    id: { type: "string" },
    object: { type: "string", const: "response" },
    created_at: COUNT,
    status: { type: "string", enum: ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"] },
    model: { type: "string" },
    output: { type: "array", items: { type: "object", properties: { type: { type: "string" } }, required: ["type"] } },
    error: {
      type: ["object", "null"],
      properties: { code: { type: "string" }, message: { type: "string" } },
      required: ["code", "message"],
    },
    usage: {
      type: ["object", "null"],
      properties: { input_tokens: COUNT, output_tokens: COUNT, total_tokens: COUNT },
      required: ["input_tokens", "output_tokens", "total_tokens"],
    },
    question: { type: "object", description: "The question that the run waits for, where it waits for a person." },
  },
  required: ["id", "object", "created_at", "status", "model", "output", "error"],
};

/** Schema of a list of items. */
export const ITEM_LIST: JsonObject = {
  type: "object",
  properties: {
    object: { type: "string", const: "list" },
    data: { type: "array", items: { type: "object" } },
    first_id: { type: ["string", "null"] },
    last_id: { type: ["string", "null"] },
    has_more: { type: "boolean" },
  },
  required: ["object", "data", "first_id", "last_id", "has_more"],
};
