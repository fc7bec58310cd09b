import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Json, JsonObject } from "@vidro/core";
import type { WorkerMessage } from "@vidro/core/wire/worker";
import { COMPATIBLE } from "../ai-sdk/prompt.ts";
import { textMessages } from "../ai-sdk/text-prompt.ts";

/** What a worker is asked: the conversation, and the newest message, to which it answers. */
interface WorkerPrompt {
  readonly messages: readonly WorkerMessage[];
  readonly prompt: string;
}

/** The conversation of a call, with the tools described in its first message. */
export function workerPrompt(options: LanguageModelV4CallOptions): WorkerPrompt {
  const messages = textMessages(options);
  const last = messages.at(-1);
  // A conversation that ends with the model's own words has no message to answer.
  if (last?.role !== "user") return { messages, prompt: "Go on." };
  return { messages: messages.slice(0, -1), prompt: last.content };
}

/** The whole conversation as one text, for a worker that takes nothing else. */
export function flatPrompt({ messages, prompt }: WorkerPrompt): string {
  const said = [...messages, { role: "user", content: prompt } as const].map(({ role, content }) =>
    role === "system" ? content : `${role === "user" ? "User" : "Assistant"}: ${content}`,
  );
  return [...said, "Assistant:"].join("\n\n");
}

/** The parameters of a session: how to draw words, and with `tools` what an answer may be. */
export function sessionParams(options: LanguageModelV4CallOptions, takesTools: boolean): JsonObject {
  const { temperature, topP, maxOutputTokens, stopSequences, seed, providerOptions } = options;
  const penalty = providerOptions?.[COMPATIBLE]?.["repeat_penalty"];
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
    ...(typeof penalty === "number" ? { repeat_penalty: penalty } : {}),
    ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    ...(seed === undefined ? {} : { seed }),
    ...(takesTools ? toolParams(options) : {}),
  };
}

function toolParams({ tools = [], toolChoice }: LanguageModelV4CallOptions): JsonObject {
  if (tools.length === 0 || toolChoice?.type === "none") return {};
  const only = toolChoice?.type === "tool" ? toolChoice.toolName : undefined;
  const offered = tools.flatMap((tool) =>
    tool.type === "function" && (only === undefined || tool.name === only)
      ? [{ name: tool.name, parameters: tool.inputSchema as Json }]
      : [],
  );
  const isRequired = toolChoice?.type === "required" || only !== undefined;
  return { tools: offered, ...(isRequired ? { tool_choice: "required" } : {}) };
}

/** What tells one conversation from another: its parameters and its beginning. */
export function conversationKey(params: JsonObject, prompt: LanguageModelV4Prompt): string {
  const beginning = prompt.slice(0, prompt.findIndex(({ role }) => role === "user") + 1);
  return JSON.stringify([params, beginning]);
}
