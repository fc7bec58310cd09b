import type { JsonObject } from "@vidro/core";
import { ANSWER, fileOf, list, send, STEPS, textOf } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string, status = 400): Refusal => ({
  status,
  body: { error: { message, type: "invalid_request_error", param: "input", code: null } },
});

const encryptedOf = (step: number): string => Buffer.from(`encrypted ${step}`).toString("base64");

/** Responses with `store: false`: encrypted reasoning comes back before the call that followed it. */
export const responses: Vendor = {
  name: "openai responses",
  env: (url) => ({ VIDRO_MODEL: "openai-responses/gpt-5.6", OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: url }),

  refuse(body) {
    if (body["store"] !== false) return refuse("store has to be false for this organisation.");
    if (!list(body["include"]).includes("reasoning.encrypted_content" as never))
      return refuse("include has to name reasoning.encrypted_content.");
    const items = list(body["input"]);
    for (const [index, item] of items.entries()) {
      if (item["type"] === "item_reference")
        return refuse(
          `Item with id '${textOf(item["id"])}' not found. Items are not persisted when store is false.`,
          404,
        );
      if (item["type"] !== "function_call") continue;
      const step = Number(textOf(item["call_id"]).slice("call_".length));
      const before = items[index - 1];
      if (before?.["type"] !== "reasoning")
        return refuse("function_call was provided without its required 'reasoning' item");
      if (before["encrypted_content"] !== encryptedOf(step))
        return refuse("The encrypted content could not be verified.");
      const isAnswered = items.some(
        (other) => other["type"] === "function_call_output" && other["call_id"] === item["call_id"],
      );
      if (!isAnswered) return refuse(`No tool output found for function call ${textOf(item["call_id"])}.`);
    }
    return undefined;
  },

  repliesIn: (body) => list(body["input"]).filter(({ type }) => type === "function_call").length,

  reply(response, _body, step) {
    const isLast = step > STEPS;
    const reasoning = { id: `rs_${step}`, type: "reasoning", summary: [], encrypted_content: encryptedOf(step) };
    const said: JsonObject = isLast
      ? {
          id: `msg_${step}`,
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: ANSWER, annotations: [] }],
        }
      : {
          id: `fc_${step}`,
          type: "function_call",
          status: "completed",
          call_id: `call_${step}`,
          name: "read_file",
          arguments: JSON.stringify({ file_path: fileOf(step) }),
        };
    const base = { id: `resp_${step}`, object: "response", created_at: 1, model: "gpt-5.6" };
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      output_tokens_details: { reasoning_tokens: 3 },
    };
    const events: JsonObject[] = [
      { type: "response.created", response: { ...base, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...reasoning, encrypted_content: "" } },
      { type: "response.output_item.done", output_index: 0, item: reasoning },
      {
        type: "response.output_item.added",
        output_index: 1,
        item: isLast ? { ...said, content: [] } : { ...said, arguments: "" },
      },
      ...(isLast
        ? [
            {
              type: "response.output_text.delta",
              item_id: `msg_${step}`,
              output_index: 1,
              content_index: 0,
              delta: ANSWER,
              logprobs: [],
            },
          ]
        : []),
      { type: "response.output_item.done", output_index: 1, item: said },
      {
        type: "response.completed",
        response: {
          ...base,
          status: "completed",
          output: [reasoning, said],
          usage,
          incomplete_details: null,
          service_tier: "default",
        },
      },
    ];
    send(
      response,
      events.map((event, sequence_number) => ({ ...event, sequence_number })),
      true,
    );
  },
};
