import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import type { ModelRequest, ToolSpec, Turn } from "@vidro/core";

/** A request in the words of the AI SDK. */
export function promptOf(request: ModelRequest): Pick<LanguageModelV4CallOptions, "prompt" | "tools"> {
  const prompt: LanguageModelV4Prompt = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  for (const turn of request.turns) {
    const message = messageOf(turn);
    if (message !== undefined) prompt.push(message);
  }
  // An empty list of tools is refused by some servers, an absent one by none.
  return request.tools.length === 0 ? { prompt } : { prompt, tools: request.tools.map(toolOf) };
}

function messageOf(turn: Turn): LanguageModelV4Message | undefined {
  if (turn.role === "user") return { role: "user", content: [{ type: "text", text: turn.text }] };
  if (turn.role === "tool") {
    const output = { type: turn.failed ? ("error-text" as const) : ("text" as const), value: turn.text };
    return { role: "tool", content: [{ type: "tool-result", toolCallId: turn.callId, toolName: turn.tool, output }] };
  }
  return assistantOf(turn);
}

function assistantOf(turn: Extract<Turn, { role: "assistant" }>): LanguageModelV4Message | undefined {
  const { text, action } = turn;
  const words = text === "" ? [] : [{ type: "text" as const, text }];
  const call = { type: "tool-call" as const, toolCallId: action?.callId ?? "", toolName: action?.tool ?? "" };
  const calls = action === undefined ? [] : [{ ...call, input: action.input }];
  // A turn without content says nothing, and some servers refuse the whole conversation for it.
  return words.length + calls.length === 0 ? undefined : { role: "assistant", content: [...words, ...calls] };
}

function toolOf({ name, description, parameters }: ToolSpec): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema: parameters };
}
