import { WORKER_SOCKET } from "@vidro/core/wire/worker";
import { firstLocal, ollamaUrl } from "./address.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { MORE_PROVIDERS } from "./more-providers.ts";
import { openCompatible, openResponses } from "./open-model.ts";
import type { Provider } from "./provider.ts";
import { isWorkerThere, workerUrl } from "./worker-uds/probe.ts";

const anthropic: Provider = {
  name: "anthropic",
  images: "in-results",
  pdfs: "everywhere",
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
  pdfs: "at-vendor",
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
  images: "in-results",
  pdfs: "everywhere",
  open: openResponses,
};

const google: Provider = {
  name: "google",
  images: "in-results",
  pdfs: "everywhere",
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
  open: async (_, { url = "" }) => (await import("./worker-uds.ts")).openWorker(url),
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
export const PROVIDERS: readonly Provider[] = [
  anthropic,
  openai,
  openaiResponses,
  google,
  worker,
  ollama,
  ...MORE_PROVIDERS,
];
