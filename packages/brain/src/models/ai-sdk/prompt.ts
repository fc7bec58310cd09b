import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelRequest, Sampling, ToolChoice, ToolSpec, Turn } from "@vidro/core";

/** A request as call options of the AI SDK, with vendor-specific settings. */
export function callOptions(request: ModelRequest, vendor: SharedV4ProviderOptions = {}): LanguageModelV4CallOptions {
  const { repeatPenalty } = request.sampling ?? {};
  // Servers of open models take this extension; vendors of closed ones have no such setting.
  const open = repeatPenalty === undefined ? {} : { [COMPATIBLE]: { repeat_penalty: repeatPenalty } };
  return { ...promptOf(request), ...samplingOf(request.sampling ?? {}), providerOptions: { ...vendor, ...open } };
}

/** Provider name for settings of any server with OpenAI's chat completions. */
export const COMPATIBLE = "compatible";

function samplingOf({ temperature, topP, maxTokens, stop }: Sampling): Partial<LanguageModelV4CallOptions> {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
  };
}

function choiceOf(choice: ToolChoice): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

function promptOf(request: ModelRequest): Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "toolChoice"> {
  const prompt: LanguageModelV4Prompt = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  for (const turn of request.turns) {
    const message = messageOf(turn);
    if (message !== undefined) prompt.push(message);
  }
  // An empty list of tools is refused by some servers, an absent one by none.
  if (request.tools.length === 0) return { prompt };
  const tools = request.tools.map(toolOf);
  return request.choice === undefined ? { prompt, tools } : { prompt, tools, toolChoice: choiceOf(request.choice) };
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
  // Some servers refuse a conversation with an empty turn.
  return words.length + calls.length === 0 ? undefined : { role: "assistant", content: [...words, ...calls] };
}

function toolOf({ name, description, parameters }: ToolSpec): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema: parameters };
}
