import type { JsonObject } from "@vidro/core";
import { dataUrlRefusal, ANSWER, fileOf, list, PARALLEL_STEP, send, STEPS, textOf, unknownField } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string): Refusal => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" } },
});

const FIELDS =
  "model messages tools tool_choice stream stream_options max_tokens temperature top_p stop seed response_format reasoning_effort parallel_tool_calls repeat_penalty";

/** The thinking of a step; that of the second is empty, and its field has to come back all the same. */
const thoughtOf = (step: number): string => (step === 2 ? "" : `Step ${step}: look at ${fileOf(step)}.`);

/** Chat completions whose thinking comes in `field` and has to come back in it with each message that calls a tool. */
export function compatible(field: "reasoning_content" | "reasoning"): Vendor {
  return {
    name: `chat completions with ${field}`,
    env: (url) => ({ VIDRO_MODEL: "thinker", VIDRO_MODEL_URL: url }),

    refuse(body) {
      const unknown = unknownField(body, FIELDS);
      if (unknown !== undefined) return refuse(`Unrecognized request argument supplied: ${unknown}`);
      const messages = list(body["messages"]);
      const orphan = messages.findIndex(
        ({ role }, index) => role === "tool" && !["tool", "assistant"].includes(textOf(messages[index - 1]?.["role"])),
      );
      if (orphan !== -1)
        return refuse("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'");
      for (const [index, message] of messages.entries()) {
        for (const { image_url: image } of list(message["content"]).filter((part) => part["type"] === "image_url")) {
          const why =
            message["role"] === "user" ? dataUrlRefusal((image as JsonObject)["url"]) : "Images come from users.";
          if (why !== undefined) return refuse(why);
        }
        const calls = list(message["tool_calls"]);
        if (message["role"] !== "assistant" || calls.length === 0) continue;
        const step = Number(textOf(calls[0]?.["id"]).slice("call_".length));
        if (typeof message[field] !== "string")
          return refuse(`The ${field} in the thinking mode must be passed back to the API.`);
        if (message[field] !== thoughtOf(step)) return refuse(`The ${field} of message ${index} was altered.`);
        const results = messages.slice(index + 1, index + 1 + calls.length).map(({ tool_call_id: id }) => id);
        if (calls.some(({ id }) => !results.includes(id)))
          return refuse("An assistant message with 'tool_calls' must be followed by tool messages");
      }
      return undefined;
    },

    prefix: ({ tools, messages }) => ({ fixed: [tools], growing: list(messages) }),

    repliesIn: (body) => list(body["messages"]).filter(({ role }) => role === "assistant").length,

    reply(response, _body, step) {
      const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
        id: `chatcmpl-${step}`,
        object: "chat.completion.chunk",
        created: 1,
        model: "thinker",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
      const isLast = step > STEPS;
      const call = (index: number, id: string): JsonObject => ({
        index,
        id,
        type: "function",
        function: { name: "read_file", arguments: JSON.stringify({ file_path: fileOf(step) }) },
      });
      const second = step === PARALLEL_STEP ? [chunk({ tool_calls: [call(1, `call_${step}b`)] })] : [];
      send(response, [
        chunk({ role: "assistant", content: null, [field]: thoughtOf(step) }),
        isLast ? chunk({ content: ANSWER }) : chunk({ tool_calls: [call(0, `call_${step}`)] }),
        ...second,
        chunk({}, isLast ? "stop" : "tool_calls"),
      ]);
      response.write("data: [DONE]\n\n");
    },
  };
}
