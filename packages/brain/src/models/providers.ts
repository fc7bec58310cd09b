import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { WORKER_SOCKET } from "@vidro/core/wire/worker";
import { thinkingExtractor } from "./ai-sdk/compatible-thinking.ts";
import { COMPATIBLE } from "./ai-sdk/prompt.ts";
import { firstLocal, ollamaUrl } from "./address.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { isWorkerThere, openWorker, workerUrl } from "./worker-uds.ts";

/** Base URL and key of a provider. */
export interface Access {
  /** Base URL of the API; the vendor's own when left out. */
  readonly url?: string;
  readonly key?: string;
}

/** A provider without a key: its server is on this machine, or where a setting says. */
interface LocalServer {
  /** Base URL of the server, from the setting of its address. */
  url(address: string | undefined): string;
  /** The first model that the server has; undefined when there is no such server or model. */
  first(url: string): Promise<string | undefined>;
}

/** A provider of models: the part before the slash in `openai/gpt-5`. */
export interface Provider {
  readonly name: string;
  /** Default model; undefined where only the server knows its models. */
  readonly model?: string;
  /** Environment variables that may hold its key, the first one first; none when it needs no key. */
  readonly keys: readonly string[];
  /** Environment variable that may hold the URL of its server. */
  readonly address: string;
  /** Path of a URL that has none. */
  readonly path: string;
  /** Whether a server at another URL may do without a key. */
  readonly keyless?: boolean;
  /** Present when it needs no key. */
  readonly local?: LocalServer;
  /** Whether its server has one model, which needs no name. */
  readonly single?: boolean;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Loads the vendor's package and opens its model. */
  open(model: string, access: Access): Promise<LanguageModelV4>;
}

/** Opens a model of any server that speaks OpenAI's chat completions. */
export async function openCompatible(model: string, { url, key }: Access): Promise<LanguageModelV4> {
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

async function openResponses(model: string, { url, key }: Access): Promise<LanguageModelV4> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  return createOpenAI({ apiKey: key ?? "", fetch: boundedFetch, ...(url && { baseURL: url }) }).responses(model);
}

const anthropic: Provider = {
  name: "anthropic",
  model: "claude-sonnet-5",
  keys: ["ANTHROPIC_API_KEY"],
  address: "ANTHROPIC_BASE_URL",
  path: "/v1",
  // A run takes one action per step; caching pays for the growing conversation once.
  providerOptions: { anthropic: { disableParallelToolUse: true, cacheControl: { type: "ephemeral" } } },
  async open(model, { url, key }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ apiKey: key ?? "", fetch: boundedFetch, ...(url && { baseURL: url }) })(model);
  },
};

const openai: Provider = {
  name: "openai",
  model: "gpt-5.6",
  keys: ["OPENAI_API_KEY"],
  address: "OPENAI_BASE_URL",
  path: "/v1",
  keyless: true,
  // The vendor is asked not to store requests.
  providerOptions: { openai: { parallelToolCalls: false, store: false } },
  // Other servers than the vendor's own have chat completions; for those with Responses there is a row of its own.
  open: (model, access) => (access.url === undefined ? openResponses(model, access) : openCompatible(model, access)),
};

const openaiResponses: Provider = {
  ...openai,
  name: "openai-responses",
  open: openResponses,
};

const google: Provider = {
  name: "google",
  model: "gemini-flash-latest",
  keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  address: "GOOGLE_GEMINI_BASE_URL",
  path: "/v1beta",
  async open(model, { url, key }) {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ apiKey: key ?? "", fetch: boundedFetch, ...(url && { baseURL: url }) })(model);
  },
};

const worker: Provider = {
  name: "worker",
  model: "",
  keys: [],
  address: "FAZAI_GEMMA_SOCK",
  path: "",
  single: true,
  local: {
    url: (path = WORKER_SOCKET) => workerUrl(path),
    first: async (url) => ((await isWorkerThere(url)) ? "" : undefined),
  },
  open: async (_, { url = "" }) => openWorker(url),
};

const ollama: Provider = {
  name: "ollama",
  keys: [],
  address: "OLLAMA_HOST",
  path: "/v1",
  local: { url: ollamaUrl, first: firstLocal },
  open: openCompatible,
};

/** The list: a new provider is one row here. Where keys are found for several, the first row wins. */
export const PROVIDERS: readonly Provider[] = [anthropic, openai, openaiResponses, google, worker, ollama];
