import type { JsonObject } from "@vidro/core";
import {
  dataUrlRefusal,
  ANSWER,
  fileOf,
  list,
  PARALLEL_STEP,
  pdfRefusal,
  send,
  STEPS,
  textOf,
  unknownField,
} from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string, status = 400): Refusal => ({
  status,
  body: { error: { message, type: "invalid_request_error", param: "input", code: null } },
});

const encryptedOf = (step: number): string => Buffer.from(`encrypted ${step}`).toString("base64");

const FIELDS =
  "model input instructions tools tool_choice stream store include parallel_tool_calls reasoning text truncation max_output_tokens prompt_cache_key service_tier metadata user";

/** Responses with `store: false`: encrypted reasoning comes back before the call that followed it. */
export const responses: Vendor = {
  name: "openai responses",
  env: (url) => ({ VIDRO_MODEL: "openai-responses/gpt-5.6", OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: url }),

  refuse(body) {
    if (body["store"] !== false) return refuse("store has to be false for this organisation.");
    if (!list(body["include"]).includes("reasoning.encrypted_content" as never))
      return refuse("include has to name reasoning.encrypted_content.");
    const unknown = unknownField(body, FIELDS);
    if (unknown !== undefined) return refuse(`Unknown parameter: '${unknown}'.`);
    if (body["parallel_tool_calls"] !== false) return refuse("parallel_tool_calls has to be false here.");
    return refuseItems(list(body["input"]));
  },

  prefix: ({ instructions, tools, input }) => ({ fixed: [instructions, tools], growing: list(input) }),

  repliesIn: (body) => list(body["input"]).filter(({ type }) => type === "reasoning").length,

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
    const second: readonly JsonObject[] =
      step === PARALLEL_STEP ? [{ ...said, id: `fc_${step}b`, call_id: `call_${step}b` }] : [];
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
      ...second.flatMap((item) => [
        { type: "response.output_item.added", output_index: 2, item: { ...item, arguments: "" } },
        { type: "response.output_item.done", output_index: 2, item },
      ]),
      {
        type: "response.completed",
        response: {
          ...base,
          status: "completed",
          output: [reasoning, said, ...second],
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

function fileRefusal({ filename, file_data: url, ...rest }: JsonObject): string | undefined {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `Unknown parameter: ${unknown}.`;
  if (typeof filename !== "string" || filename === "") return "Missing required parameter: filename.";
  const [, mediaType, data] = /^data:([a-z/]+);base64,(.*)$/.exec(textOf(url)) ?? [];
  return pdfRefusal(mediaType, data);
}

/** The rules for the order of items: reasoning, what followed it, and one output for each call. */
function refuseItems(items: readonly JsonObject[]): Refusal | undefined {
  const ids = items.flatMap(({ id }) => (id === undefined ? [] : [textOf(id)]));
  const doubled = ids.find((id, index) => ids.indexOf(id) !== index);
  if (doubled !== undefined) return refuse(`Duplicate item found with id ${doubled}.`);
  const called = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const { type, call_id: call } = item;
    const parts = [...list(item["content"]), ...list(item["output"])];
    for (const { image_url: url } of parts.filter((part) => part["type"] === "input_image")) {
      const isTaken = item["role"] === "user" || type === "function_call_output";
      const why = isTaken ? dataUrlRefusal(url) : "Images come from the user and from tools.";
      if (why !== undefined) return refuse(why);
    }
    for (const { type: _, ...file } of parts.filter((part) => part["type"] === "input_file")) {
      const why = fileRefusal(file);
      if (why !== undefined) return refuse(why);
    }
    if (type === "item_reference")
      return refuse(
        `Item with id '${textOf(item["id"])}' not found. Items are not persisted when store is false.`,
        404,
      );
    if (type === "reasoning" && !["function_call", "message"].includes(textOf(items[index + 1]?.["type"] ?? "message")))
      return refuse(
        `Item '${textOf(item["id"])}' of type 'reasoning' was provided without its required following item.`,
      );
    if (type === "function_call_output" && !called.has(call))
      return refuse(`No tool call found for function call output with call_id ${textOf(call)}.`);
    if (type !== "function_call") continue;
    called.add(call);
    const refusal = refuseCall(items, index);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function refuseCall(items: readonly JsonObject[], index: number): Refusal | undefined {
  const call = textOf(items[index]?.["call_id"]);
  const step = Number.parseInt(call.slice("call_".length), 10);
  const before = items.slice(0, index).findLast(({ type }) => type !== "function_call");
  if (before?.["type"] !== "reasoning")
    return refuse("function_call was provided without its required 'reasoning' item");
  if (before["encrypted_content"] !== encryptedOf(step)) return refuse("The encrypted content could not be verified.");
  const outputs = items.filter(({ type, call_id: id }) => type === "function_call_output" && id === call);
  if (outputs.length !== 1) return refuse(`No tool output found for function call ${call}.`);
  return undefined;
}
