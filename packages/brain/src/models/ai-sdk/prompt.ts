import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { thinkingOptions } from "./compatible-thinking.ts";
import { WRITTEN } from "./tagged-text.ts";
import { isObject, isPdfPart, withoutAttachedText, wordsAndCalls } from "@vidro/core";
import type { FilePart, JsonObject, ModelRequest, ReplyPart, Sampling, ToolChoice, ToolSpec, Turn } from "@vidro/core";

/** A model, and settings that only its vendor knows. */
interface CalledModel {
  readonly name: string;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** The vendor refuses a request that forces a call; the system text asks for it in words. */
  readonly refusesForcedTools?: true;
  /** The vendor gives its thinking in words to who asks for them. */
  readonly showsThinking?: true;
  /** Tokens of the longest reply, where a setting bounds it. */
  readonly answer?: number;
  /** How it takes images that tools give: in the results of calls, or only from the user; absent when it takes none. */
  readonly images?: ImagesTaken;
  /** It takes PDFs as files, where it takes images. */
  readonly pdfs?: true;
}

/** Where a model takes images that tools give. */
export type ImagesTaken = "in-results" | "from-user";

/** A request as call options of the AI SDK for a model. */
export function callOptions(
  request: ModelRequest,
  { name, providerOptions = {}, refusesForcedTools, showsThinking, answer, images, pdfs }: CalledModel,
): LanguageModelV4CallOptions {
  const sampling = request.sampling ?? {};
  const { repeatPenalty, verbosity } = sampling;
  const wordy = verbosity === undefined ? {} : { textVerbosity: verbosity };
  // Servers of open models take this extension; vendors of closed ones have no such setting.
  const open = { ...wordy, ...(repeatPenalty === undefined ? {} : { repeat_penalty: repeatPenalty }) };
  const openai = { ...providerOptions[OPENAI], ...wordy, ...vendorFields(sampling) };
  return {
    ...promptOf(refusesForcedTools === true ? withoutForcedCall(request) : request, {
      name,
      images: images ?? (pdfs === true ? "from-user" : undefined),
      isSeen: (file) => (isPdfPart(file) ? pdfs === true : images !== undefined),
    }),
    ...(request.traceparent === undefined ? {} : { headers: { traceparent: request.traceparent } }),
    ...samplingOf(answer === undefined ? sampling : { maxTokens: answer, ...sampling }),
    providerOptions: {
      ...providerOptions,
      ...(showsThinking === true && sampling.reasoning !== "none" ? shownThinking(providerOptions) : {}),
      [OPENAI]: openai,
      [COMPATIBLE]: open,
    },
  };
}

/** The settings by which vendors give thinking in words; each reads its own. */
function shownThinking({ anthropic = {}, google = {} }: SharedV4ProviderOptions): SharedV4ProviderOptions {
  return {
    anthropic: { ...anthropic, thinking: { type: "adaptive", display: "summarized" } },
    google: { ...google, thinkingConfig: { includeThoughts: true } },
  };
}

/** The request without a forced call. */
function withoutForcedCall(request: ModelRequest): ModelRequest {
  const { choice, ...rest } = request;
  return choice === "none" ? request : rest;
}

const OPENAI = "openai";

/** Fields of the client's wire that OpenAI's own servers take, by the names that the AI SDK has for them. */
const VENDOR_FIELDS: { readonly [field: string]: string } = {
  user: "user",
  metadata: "metadata",
  safety_identifier: "safetyIdentifier",
  prompt_cache_key: "promptCacheKey",
  prompt_cache_retention: "promptCacheRetention",
  service_tier: "serviceTier",
};

function vendorFields({ vendor = {} }: Sampling): JsonObject {
  const fields = Object.entries(vendor).flatMap(([field, value]) => {
    const name = VENDOR_FIELDS[field];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fields);
}

/** Provider name for settings of any server with OpenAI's chat completions. */
export const COMPATIBLE = "compatible";

function samplingOf(sampling: Sampling): Partial<LanguageModelV4CallOptions> {
  const { temperature, topP, maxTokens, stop, frequencyPenalty, presencePenalty, seed, reasoning, format } = sampling;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(seed === undefined ? {} : { seed }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(format === undefined ? {} : { responseFormat: { type: "json", ...(format as { schema?: JSONSchema7 }) } }),
  };
}

function choiceOf(choice: ToolChoice): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

/** A model, which files it takes, and where. */
interface PromptReader {
  readonly name: string;
  readonly images: ImagesTaken | undefined;
  readonly isSeen: (file: FilePart) => boolean;
}

function promptOf(
  request: ModelRequest,
  reader: PromptReader,
): Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "toolChoice"> {
  const prompt: LanguageModelV4Prompt = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  let shown: readonly FilePart[] = [];
  const show = (): void => {
    if (shown.length > 0) prompt.push({ role: "user", content: [TOOL_FILES, ...shown.map(fileOf)] });
    shown = [];
  };
  for (const given of request.turns) {
    const turn = given.role === "assistant" ? given : withSeenFiles(given, reader);
    if (turn.role !== "tool") show();
    const message = messageOf(turn, reader);
    const last = prompt.at(-1);
    // Vendors want all results of a reply's calls in one message.
    if (message?.role === "tool" && last?.role === "tool") last.content.push(...message.content);
    else if (message !== undefined) prompt.push(message);
    if (turn.role === "tool" && turn.files !== undefined && reader.images === "from-user")
      shown = [...shown, ...turn.files];
  }
  show();
  // An empty list of tools is refused by some servers, an absent one by none.
  if (request.tools.length === 0) return { prompt };
  const tools = request.tools.map(toolOf);
  return request.choice === undefined ? { prompt, tools } : { prompt, tools, toolChoice: choiceOf(request.choice) };
}

/** The words before files that tools gave. */
const TOOL_FILES = { type: "text" as const, text: "This is what the tool gave, as data:" };

function fileOf({ mediaType, data, name }: FilePart): LanguageModelV4FilePart {
  return { type: "file", mediaType, data: { type: "data", data }, ...(name === undefined ? {} : { filename: name }) };
}

/**
 * A turn with the files that a model takes. A sentence stands for each image that it does not take. A PDF is either a
 * file or its text, which is among the words: the other one is left out.
 */
function withSeenFiles<Given extends Exclude<Turn, { role: "assistant" }>>(
  turn: Given,
  { isSeen }: PromptReader,
): Given {
  if (turn.files === undefined) return turn;
  const { files, ...bare } = turn;
  const seen = files.filter(isSeen);
  const notes = files
    .filter((file) => !isSeen(file) && !isPdfPart(file))
    .map(({ mediaType, name }) => `[${name ?? mediaType} is not shown: this model is not known to take images.]`);
  const names = seen.filter(isPdfPart).map(({ name = "the PDF" }) => name);
  const words =
    turn.role === "tool" && names.length > 0
      ? `[${names.join(", ")} is shown as a file; read it with offset and limit for lines of its text.]`
      : names.reduce((text, name) => withoutAttachedText(text, name), turn.text);
  const shown = seen.length === 0 ? {} : { files: seen };
  return { ...bare, ...shown, text: [words, ...notes].join("\n") } as unknown as Given;
}

function messageOf(
  turn: Turn,
  { name, images }: Pick<PromptReader, "name" | "images">,
): LanguageModelV4Message | undefined {
  if (turn.role === "user")
    return { role: "user", content: [{ type: "text", text: turn.text }, ...(turn.files ?? []).map(fileOf)] };
  if (turn.role === "tool") {
    const words = { type: turn.failed ? ("error-text" as const) : ("text" as const), value: turn.text };
    const isShown = turn.files !== undefined && images === "in-results";
    const text = { type: "text" as const, text: turn.text };
    const output = isShown ? { type: "content" as const, value: [text, ...(turn.files ?? []).map(fileOf)] } : words;
    return { role: "tool", content: [{ type: "tool-result", toolCallId: turn.callId, toolName: turn.tool, output }] };
  }
  return assistantOf(turn, name);
}

function assistantOf(
  { text, action, parts }: Extract<Turn, { role: "assistant" }>,
  model: string,
): LanguageModelV4Message | undefined {
  if (parts !== undefined) {
    const kept = parts.from === model ? parts : wordsAndCalls(parts);
    const fields = thinkingOptions(kept);
    const content = kept.items
      .filter(({ kind }) => fields === undefined || kind !== "thinking")
      .map((part) => contentOf(part, action?.input ?? {}));
    if (content.length === 0) return undefined;
    return { role: "assistant", content, ...(fields === undefined ? {} : { providerOptions: fields }) };
  }
  const words = text === "" ? [] : [{ type: "text" as const, text }];
  const call = { type: "tool-call" as const, toolCallId: action?.callId ?? "", toolName: action?.tool ?? "" };
  const calls = action === undefined ? [] : [{ ...call, input: action.input }];
  // Some servers refuse a conversation with an empty turn.
  return words.length + calls.length === 0 ? undefined : { role: "assistant", content: [...words, ...calls] };
}

type ReplyContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/** A part as it came; `input` is that of the reply's action. */
function contentOf(part: ReplyPart, input: JsonObject): ReplyContent {
  // Thinking between tags of the text goes back as it was written.
  const written = part.opaque?.[WRITTEN];
  if (part.kind === "thinking" && isObject(written) && typeof written["tag"] === "string") {
    const { tag } = written;
    return { type: "text", text: `<${tag}>${part.text}</${tag}>\n` };
  }
  const data = part.opaque === undefined ? {} : { providerOptions: part.opaque as SharedV4ProviderOptions };
  if (part.kind === "call")
    return { type: "tool-call", toolCallId: part.callId, toolName: part.tool, input: part.input ?? input, ...data };
  return { type: part.kind === "text" ? "text" : "reasoning", text: part.text, ...data };
}

function toolOf({ name, description, parameters, strict }: ToolSpec): LanguageModelV4FunctionTool {
  const held = strict === undefined ? {} : { strict };
  return { type: "function", name, description, inputSchema: parameters, ...held };
}
