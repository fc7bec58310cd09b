import assert from "node:assert/strict";
import { test } from "node:test";
import type { FaultCode, JsonObject, ModelEvent } from "@vidro/core";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "../../packages/brain/src/config.ts";
import { fakeOpenAi } from "../support/fake-openai.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { send } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* How a stream can end after a status of 200: errors within it, refusals, pauses, replies that are cut. None is a success. */

/** The last event of a call that is answered with these server-sent events. */
async function lastEvent(
  vendor: Vendor,
  events: readonly JsonObject[],
  named = false,
): Promise<ModelEvent | undefined> {
  const server = await fakeOpenAi((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    send(response, events, named);
    response.end();
  });
  try {
    const model = await chooseModel(readConfig({ env: vendor.env(server.url) }));
    const request = { system: "Be brief.", turns: [{ role: "user", text: "hello" }], tools: [] } as const;
    return (await Array.fromAsync(model.call(request, new AbortController().signal))).at(-1);
  } finally {
    await server.close();
  }
}

const USAGE = { input_tokens: 1, output_tokens: 1 };

/** Anthropic's events for a text that ends for a reason. */
function anthropicEnd(reason: string, text = "so"): readonly JsonObject[] {
  const message = { id: "m", type: "message", role: "assistant", model: "claude-opus-5-5", content: [], usage: USAGE };
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ];
}

const anthropicError = (type: string, message: string): readonly JsonObject[] => [
  ...anthropicEnd("end_turn").slice(0, 3),
  { type: "error", error: { type, message } },
];

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const candidate = (finishReason: string, parts: readonly JsonObject[] = []): JsonObject => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});

const response = { id: "r", object: "response", created_at: 1, model: "gpt-5.6", output: [] };
const responseFailed = (code: string, message: string): readonly JsonObject[] => [
  { type: "response.created", response: { ...response, status: "in_progress" }, sequence_number: 0 },
  {
    type: "response.failed",
    response: { ...response, status: "failed", error: { code, message }, incomplete_details: null },
    sequence_number: 1,
  },
];

const compatibleVendor = compatible("reasoning_content");
const FAULTY: readonly (readonly [Vendor, string, readonly JsonObject[], FaultCode])[] = [
  [anthropic, "overloaded", anthropicError("overloaded_error", "Overloaded"), "MODEL_UNAVAILABLE"],
  [anthropic, "rate limit", anthropicError("rate_limit_error", "slow down"), "MODEL_RATE_LIMITED"],
  [anthropic, "refusal", anthropicEnd("refusal"), "MODEL_WITHHELD"],
  [anthropic, "pause", anthropicEnd("pause_turn"), "MODEL_CUT"],
  [anthropic, "window", anthropicEnd("model_context_window_exceeded"), "MODEL_CONTEXT_FULL"],
  [gemini, "overloaded", [{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }], "MODEL_UNAVAILABLE"],
  [gemini, "safety", [candidate("SAFETY")], "MODEL_WITHHELD"],
  [gemini, "blocked prompt", [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }], "MODEL_WITHHELD"],
  [gemini, "malformed call", [candidate("MALFORMED_FUNCTION_CALL")], "MODEL_RUBBISH"],
  [responses, "window", responseFailed("context_length_exceeded", "too long"), "MODEL_CONTEXT_FULL"],
  [responses, "overloaded", responseFailed("server_is_overloaded", "busy"), "MODEL_UNAVAILABLE"],
  [responses, "rate limit", responseFailed("rate_limit_exceeded", "slow down"), "MODEL_RATE_LIMITED"],
  [responses, "quota", responseFailed("insufficient_quota", "You exceeded your current quota"), "MODEL_UNPAID"],
  [compatibleVendor, "rate limit", [{ error: { code: 429, message: "slow down" } }], "MODEL_RATE_LIMITED"],
  [compatibleVendor, "upstream", [{ error: { code: 502, message: "the provider failed" } }], "MODEL_UNAVAILABLE"],
  [compatibleVendor, "runner", [{ error: "model runner has stopped" }], "MODEL_UNAVAILABLE"],
  [compatibleVendor, "filter", [chunk({ content: "so" }), chunk({}, "content_filter")], "MODEL_WITHHELD"],
  [
    compatibleVendor,
    "resources",
    [chunk({ content: "so" }), chunk({}, "insufficient_system_resource")],
    "MODEL_UNAVAILABLE",
  ],
];

for (const [vendor, what, events, code] of FAULTY) {
  test(`a stream of ${vendor.name} that ends with ${what} is ${code}`, async () => {
    const last = await lastEvent(vendor, events, vendor === anthropic || vendor === responses);
    assert.equal(last?.type === "failed" ? last.fault.code : JSON.stringify(last), code, JSON.stringify(last));
  });
}

test("a reply that reached its bound of tokens says so on every wire", async () => {
  const cases: readonly (readonly [Vendor, readonly JsonObject[]])[] = [
    [anthropic, anthropicEnd("max_tokens")],
    [gemini, [candidate("MAX_TOKENS", [{ text: "so" }])]],
    [compatibleVendor, [chunk({ content: "so" }), chunk({}, "length")]],
  ];
  for (const [vendor, events] of cases) {
    const last = await lastEvent(vendor, events, vendor === anthropic);
    assert.ok(last?.type === "replied" && last.reply.cutShort === true, `${vendor.name}: ${JSON.stringify(last)}`);
  }
});
