import type { LanguageModelV4 } from "@ai-sdk/provider";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Access } from "./provider.ts";

/** Opens a model of any server that speaks OpenAI's chat completions. */
export async function openCompatible(
  model: string,
  { url, key }: Pick<Access, "url" | "key">,
): Promise<LanguageModelV4> {
  const [{ createOpenAICompatible }, { thinkingExtractor }, { COMPATIBLE }] = await Promise.all([
    import("@ai-sdk/openai-compatible"),
    import("./ai-sdk/compatible-thinking.ts"),
    import("./ai-sdk/prompt.ts"),
  ]);
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
