import type { LanguageModelV4 } from "@ai-sdk/provider";
import { thinkingExtractor } from "./ai-sdk/compatible-thinking.ts";
import { COMPATIBLE } from "./ai-sdk/prompt.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Access } from "./provider.ts";

/** Opens a model of any server that speaks OpenAI's chat completions. */
export async function openCompatible(
  model: string,
  { url, key }: Pick<Access, "url" | "key">,
): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({
    name: COMPATIBLE,
    baseURL: url ?? "",
    includeUsage: true,
    metadataExtractor: thinkingExtractor,
    supportsStructuredOutputs: true,
    fetch: boundedFetch,
    ...(key === undefined ? {} : { apiKey: key }),
  }).chatModel(model);
}

/** Opens a model of a server with OpenAI's Responses; the vendor's own without a URL. */
export async function openResponses(
  model: string,
  { url, key }: Pick<Access, "url" | "key">,
): Promise<LanguageModelV4> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  return createOpenAI({ apiKey: key ?? "", fetch: boundedFetch, ...(url && { baseURL: url }) }).responses(model);
}
