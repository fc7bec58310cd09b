import type { JsonObject } from "@vidro/core";
import { PACKAGES } from "./packages.ts";
import { ANSWER, fileOf, list, PARALLEL_STEP, send, STEPS, textOf, unknownField } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string, status = 400): Refusal => ({
  status,
  body: { object: "error", message, type: "invalid_request_message_order", param: null, code: "3230" },
});

const FIELDS =
  "model messages tools tool_choice stream max_tokens temperature top_p stop random_seed response_format safe_prompt presence_penalty frequency_penalty n parallel_tool_calls prompt_mode reasoning_effort document_image_limit document_page_limit";
const ID = /^[a-zA-Z0-9]{9}$/;
/** Roles that may follow each role. */
const NEXT: { readonly [role: string]: readonly string[] } = {
  system: ["system", "user", "assistant"],
  user: ["user", "assistant", "system"],
  assistant: ["user", "assistant", "tool"],
  tool: ["assistant", "tool"],
};

const idOf = (step: number, more = "A"): string => `call0000${step}`.slice(0, 8) + (more === "A" ? String(step) : "b");
const thoughtOf = (step: number): string => `Step ${step}: look at ${fileOf(step)}.`;

/** Chat completions of Mistral: short ids, a fixed order of roles, and thinking that comes back as it was. */
export const mistral: Vendor = {
  name: "mistral",
  env: (url) => ({
    VIDRO_MODEL: "mistral/mistral-large-4",
    MISTRAL_API_KEY: "mk-1",
    MISTRAL_BASE_URL: url,
    VIDRO_VENDOR_PACKAGES: PACKAGES,
  }),

  admit({ path, headers }) {
    if (path !== "/v1/chat/completions") return refuse("no Route matched with those values", 404);
    return headers.authorization === "Bearer mk-1" ? undefined : refuse("Unauthorized", 401);
  },

  refuse(body) {
    const unknown = unknownField(body, FIELDS);
    if (unknown !== undefined) return refuse(`Extra inputs are not permitted: ${unknown}`, 422);
    const messages = list(body["messages"]);
    for (const [index, { role }] of messages.entries()) {
      const before = index === 0 ? undefined : textOf(messages[index - 1]?.["role"]);
      if (before !== undefined && NEXT[before]?.includes(textOf(role)) !== true)
        return refuse(`Unexpected role '${textOf(role)}' after role '${before}'`);
    }
    const last = textOf(messages.at(-1)?.["role"]);
    if (last !== "user" && last !== "tool")
      return refuse(`Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last}`);
    return refuseCalls(messages);
  },

  prefix: ({ tools, messages }) => ({ fixed: [tools], growing: list(messages) }),

  repliesIn: (body) => list(body["messages"]).filter(({ role }) => role === "assistant").length,

  reply(response, _body, step) {
    const isLast = step > STEPS;
    const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
      id: `cmpl-${step}`,
      object: "chat.completion.chunk",
      created: 1,
      model: "mistral-large-4",
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish === null ? {} : { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    });
    const call = (id: string, index: number): JsonObject => ({
      id,
      index,
      type: "function",
      function: { name: "read_file", arguments: JSON.stringify({ file_path: fileOf(step) }) },
    });
    const calls = [call(idOf(step), 0), ...(step === PARALLEL_STEP ? [call(idOf(step, "b"), 1)] : [])];
    const thinking = { type: "thinking", thinking: [{ type: "text", text: thoughtOf(step) }] };
    send(response, [
      chunk({ role: "assistant", content: [thinking] }),
      isLast ? chunk({ content: ANSWER }) : chunk({ content: "", tool_calls: calls }),
      chunk({ content: "" }, isLast ? "stop" : "tool_calls"),
    ]);
    response.write("data: [DONE]\n\n");
  },
};

function refuseCalls(messages: readonly JsonObject[]): Refusal | undefined {
  let step = 0;
  for (const [index, message] of messages.entries()) {
    if (message["role"] !== "assistant") continue;
    step += 1;
    const calls = list(message["tool_calls"]);
    for (const { id } of calls)
      if (!ID.test(textOf(id)))
        return refuse(`Tool call id was ${textOf(id)} but must be a-z, A-Z, 0-9, with a length of 9.`);
    const results: string[] = [];
    for (let next = index + 1; messages[next]?.["role"] === "tool"; next += 1)
      results.push(textOf(messages[next]?.["tool_call_id"]));
    if (results.length !== calls.length) return refuse("Not the same number of function calls and responses");
    if (calls.some(({ id }) => !results.includes(textOf(id)))) return refuse("Unexpected tool call id in tool results");
    if (!JSON.stringify(message["content"]).includes(thoughtOf(step)))
      return refuse(`The thinking of reply ${step} is missing.`);
  }
  return undefined;
}
