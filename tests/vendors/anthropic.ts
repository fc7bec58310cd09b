import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@vidro/core";
import { ANSWER, fileOf, list, send, STEPS } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const FIELDS = new Set(
  "model max_tokens system messages tools tool_choice stream thinking output_config metadata cache_control stop_sequences".split(
    " ",
  ),
);

const refuse = (message: string): Refusal => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message }, request_id: "req_1" },
});

/** Messages API: thinking is bound to the whole prefix, calls are answered at once, tools are never forced. */
export const anthropic: Vendor = {
  name: "anthropic",
  env: (url) => ({ VIDRO_MODEL: "anthropic/claude-opus-5-5", ANTHROPIC_API_KEY: "sk-ant-x", ANTHROPIC_BASE_URL: url }),

  refuse(body) {
    const unknown = Object.keys(body).find((field) => !FIELDS.has(field));
    if (unknown !== undefined) return refuse(`${unknown}: Extra inputs are not permitted`);
    const choice = body["tool_choice"] as JsonObject | undefined;
    if (choice?.["type"] === "any" || choice?.["type"] === "tool")
      return refuse('tool_choice: type "tool" and "any" are not supported for this model.');
    return refuseHistory(body);
  },

  repliesIn: (body) => list(body["messages"]).filter(({ role }) => role === "assistant").length,

  reply(response, body, step) {
    const signature = sign(body, list(body["messages"]).length);
    const isLast = step > STEPS;
    const call = { type: "tool_use", id: `toolu_${step}`, name: "read_file", input: {} };
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
        : block(1, call, { type: "input_json_delta", partial_json: input })),
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
  for (const [index, message] of messages.entries()) {
    if (message["role"] !== "assistant") continue;
    const blocks = list(message["content"]);
    const thinking = blocks.find(({ type }) => type === "thinking");
    if (thinking === undefined) return refuse("Expected `thinking` or `redacted_thinking`, but found `text`");
    if (thinking["signature"] !== sign(body, index))
      return refuse("Invalid `signature` in `thinking` block. The block is bound to a different conversation.");
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
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
