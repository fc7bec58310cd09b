import type { JsonObject } from "@vidro/core";
import { compatible } from "./compatible.ts";
import { list, textOf } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string): Refusal => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param: null, code: null } },
});

const ROLES = new Set(["system", "user", "assistant", "tool"]);
const thinker = compatible("reasoning");

/** Ollama's side with chat completions: thinking is read from `reasoning` alone, no call is forced, arguments are JSON. */
export const ollama: Vendor = {
  ...thinker,
  name: "ollama",
  env: (url) => ({ VIDRO_MODEL: "ollama/thinker", OLLAMA_HOST: new URL(url).host }),

  refuse(body) {
    if (body["tool_choice"] !== undefined && body["tool_choice"] !== "auto")
      return refuse("tool_choice is not supported");
    for (const message of list(body["messages"])) {
      if (!ROLES.has(textOf(message["role"]))) return refuse(`invalid role: ${textOf(message["role"])}`);
      if (message["reasoning_content"] !== undefined) return refuse("thinking comes back in reasoning");
      const refusal = refuseParts(message) ?? refuseCalls(message);
      if (refusal !== undefined) return refusal;
    }
    return thinker.refuse(body);
  },
};

function refuseParts({ content }: JsonObject): Refusal | undefined {
  const isText = list(content).every(({ type }) => type === "text");
  return isText ? undefined : refuse("invalid message content type");
}

function refuseCalls(message: JsonObject): Refusal | undefined {
  for (const { function: called } of list(message["tool_calls"])) {
    try {
      JSON.parse(textOf((called as JsonObject)["arguments"]));
    } catch {
      return refuse("invalid tool call arguments");
    }
  }
  return undefined;
}
