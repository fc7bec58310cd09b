import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@vidro/core";
import {
  ANSWER,
  fileOf,
  imageRefusal,
  list,
  PARALLEL_STEP,
  pdfRefusal,
  send,
  STEPS,
  textOf,
  unknownField,
} from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const FIELDS =
  "model max_tokens system messages tools tool_choice stream thinking output_config metadata cache_control stop_sequences";
const MOST_TOKENS = 128_000;
const MOST_MARKS = 4;
/** Ids of calls and names of tools. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const refuse = (message: string): Refusal => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message }, request_id: "req_1" },
});

/** Messages API: thinking is bound to the whole prefix, calls are answered at once, tools are never forced. */
export const anthropic: Vendor = {
  name: "anthropic",
  env: (url) => ({ VIDRO_MODEL: "anthropic/claude-opus-5-5", ANTHROPIC_API_KEY: "sk-ant-x", ANTHROPIC_BASE_URL: url }),

  refuse(body) {
    const unknown = unknownField(body, FIELDS);
    if (unknown !== undefined) return refuse(`${unknown}: Extra inputs are not permitted`);
    if (typeof body["max_tokens"] !== "number" || body["max_tokens"] > MOST_TOKENS)
      return refuse(`max_tokens: has to be there, and at most ${MOST_TOKENS}`);
    const thinking = body["thinking"] as JsonObject | undefined;
    if (thinking !== undefined && thinking["type"] !== "adaptive")
      return refuse(`thinking: type ${JSON.stringify(thinking["type"])} is not supported for this model.`);
    if (thinking?.["block_binding"] !== undefined)
      return refuse("thinking.block_binding: Extra inputs are not permitted");
    const marks = JSON.stringify(body).split('"cache_control"').length - 1;
    if (marks > MOST_MARKS) return refuse(`A maximum of ${MOST_MARKS} blocks with cache_control may be provided.`);
    const names = list(body["tools"]).map(({ name }) => textOf(name));
    if (names.some((name) => !NAME.test(name))) return refuse(`tools: a name should match '${String(NAME)}'`);
    const choice = body["tool_choice"] as JsonObject | undefined;
    if (choice?.["type"] === "any" || choice?.["type"] === "tool")
      return refuse('tool_choice: type "tool" and "any" are not supported for this model.');
    return refuseHistory(body);
  },

  prefix: ({ system, tools, thinking, messages }) => ({ fixed: [system, tools, thinking], growing: list(messages) }),

  repliesIn: (body) => list(body["messages"]).filter(({ role }) => role === "assistant").length,

  reply(response, body, step) {
    const signature = sign(body, list(body["messages"]).length);
    const isLast = step > STEPS;
    const call = (id: string): JsonObject => ({ type: "tool_use", id, name: "read_file", input: {} });
    const input = JSON.stringify({ file_path: fileOf(step) });
    const block = (index: number, content: JsonObject, delta: JsonObject): JsonObject[] => [
      { type: "content_block_start", index, content_block: content },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ];
    const events: JsonObject[] = [
      {
        type: "message_start",
        message: {
          id: `msg_${step}`,
          type: "message",
          role: "assistant",
          model: "claude-opus-5-5",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 90, cache_creation_input_tokens: 5 },
        },
      },
      ...block(0, { type: "thinking", thinking: "", signature: "" }, { type: "signature_delta", signature }),
      ...(isLast
        ? block(1, { type: "text", text: "" }, { type: "text_delta", text: ANSWER })
        : block(1, call(`toolu_${step}`), { type: "input_json_delta", partial_json: input })),
      ...(step === PARALLEL_STEP
        ? block(2, call(`toolu_${step}b`), { type: "input_json_delta", partial_json: input })
        : []),
      {
        type: "message_delta",
        delta: { stop_reason: isLast ? "end_turn" : "tool_use", stop_sequence: null },
        usage: { output_tokens: 7 },
      },
      { type: "message_stop" },
    ];
    send(response, events, true);
  },
};

function refuseHistory(body: JsonObject): Refusal | undefined {
  const messages = list(body["messages"]);
  if (messages[0]?.["role"] !== "user") return refuse("messages: the first message must use the user role");
  if (messages.at(-1)?.["role"] !== "user") return refuse("This model does not support assistant message prefill.");
  const called = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const blocks = list(message["content"]);
    if (blocks.some(({ type, text }) => type === "text" && textOf(text).trim() === ""))
      return refuse("messages: text content blocks must be non-empty");
    const inResults = blocks.flatMap((block) => list(block["content"]));
    const files = [...blocks, ...inResults].filter(({ type }) => type === "image" || type === "document");
    for (const { type, source, ...rest } of files) {
      const { type: kind, media_type: mediaType, data } = (source ?? {}) as JsonObject;
      if (message["role"] !== "user" || kind !== "base64")
        return refuse(`messages: ${textOf(type)} blocks need a source`);
      const known = type === "image" ? ["cache_control"] : ["cache_control", "title", "context", "citations"];
      const [unknown] = Object.keys(rest).filter((field) => !known.includes(field));
      if (unknown !== undefined) return refuse(`messages: ${textOf(type)}.${unknown}: Extra inputs are not permitted`);
      const why = type === "image" ? imageRefusal(mediaType, data) : pdfRefusal(mediaType, data);
      if (why !== undefined) return refuse(why);
    }
    for (const { type, tool_use_id: id } of blocks)
      if (type === "tool_result" && !called.delete(id))
        return refuse(`unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${textOf(id)}`);
    if (message["role"] !== "assistant") continue;
    const [first] = blocks;
    if (first?.["type"] !== "thinking") return refuse("Expected `thinking` or `redacted_thinking`, but found `text`");
    if (first["cache_control"] !== undefined) return refuse("thinking blocks cannot have cache_control");
    if (first["signature"] !== sign(body, index))
      return refuse("Invalid `signature` in `thinking` block. The block is bound to a different conversation.");
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    for (const id of calls) called.add(id);
    if (calls.some((id) => !NAME.test(textOf(id)))) return refuse("messages: a tool_use id has a wrong form");
    // The results stand first in the next message, one for each call.
    const next = list(messages[index + 1]?.["content"]);
    const results = next.slice(0, calls.length).map(({ tool_use_id: id }) => id);
    if (results.length !== calls.length || calls.some((id) => !results.includes(id)))
      return refuse("`tool_use` ids were found without `tool_result` blocks immediately after");
  }
  return undefined;
}

/** A signature over the system text, the tools and the first `count` messages, cache marks aside. */
function sign({ system = null, tools = null, messages }: JsonObject, count: number): string {
  const prefix = withoutMarks({ system, tools, messages: list(messages).slice(0, count) as Json });
  return createHash("sha256").update(JSON.stringify(prefix)).digest("base64");
}

function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutMarks(item));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== "cache_control");
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutMarks(item as Json)]));
}
