import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isReservedTool } from "@vidro/core/run";

/* A prompt as text for a model that calls no tools: calls are action lines, results are messages of the user. */

/** A message of text alone. */
interface TextMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** The conversation of a call as text, with the tools described in its first message. */
export function textMessages({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): readonly TextMessage[] {
  const described =
    toolChoice?.type === "none" ? [] : tools.flatMap((tool) => (tool.type === "function" ? [tool] : []));
  const about = described.map(({ name, description = "", inputSchema }) => {
    return `- ${name}: ${description} Input: ${JSON.stringify(inputSchema)}`;
  });
  const words = about.length === 0 ? [] : ["The tools:", ...about];
  const [first, ...rest] = joinNeighbours(prompt.map(messageOf));
  const system = first?.role === "system" ? [first.content, ...words] : words;
  const opening: TextMessage[] = system.length === 0 ? [] : [{ role: "system", content: system.join("\n") }];
  return [...opening, ...(first === undefined || first.role === "system" ? rest : [first, ...rest])];
}

/** The same call for a server that takes no tools. */
export function withoutTools(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { tools: _, toolChoice: __, ...rest } = options;
  const prompt = textMessages(options).map(({ role, content }): LanguageModelV4Message => {
    return role === "system" ? { role, content } : { role, content: [{ type: "text", text: content }] };
  });
  return { ...rest, prompt };
}

function messageOf(message: LanguageModelV4Message): TextMessage {
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
function joinNeighbours(messages: readonly TextMessage[]): readonly TextMessage[] {
  const all: TextMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (message.content === "") continue;
    if (last?.role === message.role)
      all[all.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
    else all.push(message);
  }
  return all;
}
