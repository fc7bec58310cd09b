import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Json, JsonObject } from "@vidro/core";
import { isReservedTool } from "@vidro/core/run";
import type { WorkerMessage } from "@vidro/core/wire/worker";
import { COMPATIBLE } from "../ai-sdk/prompt.ts";

/* A prompt as text for a model that calls no tools: calls are action lines, results are messages of the user. */

/** What a worker is asked: the conversation, and the newest message, to which it answers. */
interface WorkerPrompt {
  readonly messages: readonly WorkerMessage[];
  readonly prompt: string;
}

/** The conversation of a call, with the tools described in its first message. */
export function workerPrompt({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): WorkerPrompt {
  const described =
    toolChoice?.type === "none" ? [] : tools.flatMap((tool) => (tool.type === "function" ? [tool] : []));
  const about = described.map(({ name, description = "", inputSchema }) => {
    return `- ${name}: ${description} Input: ${JSON.stringify(inputSchema)}`;
  });
  const words = about.length === 0 ? [] : ["The tools:", ...about];
  const [first, ...rest] = joined(prompt.map(messageOf));
  const system = first?.role === "system" ? [first.content, ...words] : words;
  const opening: WorkerMessage[] = system.length === 0 ? [] : [{ role: "system", content: system.join("\n") }];
  const turns = first === undefined || first.role === "system" ? rest : [first, ...rest];
  const last = turns.at(-1);
  // A conversation that ends with the model's own words has no message to answer.
  if (last?.role !== "user") return { messages: [...opening, ...turns], prompt: "Go on." };
  return { messages: [...opening, ...turns.slice(0, -1)], prompt: last.content };
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

function messageOf(message: LanguageModelV4Message): WorkerMessage {
  if (message.role === "system") return { role: "system", content: message.content };
  const parts = message.content.flatMap((part) => {
    if (part.type === "text") return [part.text];
    if (part.type === "tool-call") return [actionLine(part.toolName, part.input)];
    if (part.type !== "tool-result") return [];
    const { output, toolName } = part;
    const words = output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify(output);
    return [`${output.type === "error-text" ? "Error" : "Result"} of ${toolName}:\n${words}`];
  });
  return { role: message.role === "assistant" ? "assistant" : "user", content: parts.join("\n") };
}

/** A call as the line that a model without native calls writes for it. */
function actionLine(name: string, input: unknown): string {
  const fields = typeof input === "object" && input !== null ? input : {};
  return JSON.stringify(isReservedTool(name) ? { type: name, ...fields } : { type: "use_tool", name, args: fields });
}

/** Messages without empty ones, and with neighbours of the same role joined: most templates want roles in turn. */
function joined(messages: readonly WorkerMessage[]): readonly WorkerMessage[] {
  const all: WorkerMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (message.content === "") continue;
    if (last?.role === message.role)
      all[all.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
    else all.push(message);
  }
  return all;
}

/** What tells one conversation from another: its parameters and its beginning. */
export function conversationKey(params: JsonObject, prompt: LanguageModelV4Prompt): string {
  const beginning = prompt.slice(0, prompt.findIndex(({ role }) => role === "user") + 1);
  return JSON.stringify([params, beginning]);
}
