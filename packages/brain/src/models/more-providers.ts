import type { LanguageModelV4 } from "@ai-sdk/provider";
import { baseUrl, firstListed, isListening } from "./address.ts";
import { MODEL_LIMITS } from "@vidro/core";
import { mistralPrompt } from "./mistral-prompt.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { openCompatible, openResponses } from "./open-model.ts";
import type { Provider } from "./provider.ts";
import type { VendorPackage } from "./vendor-packages.ts";

/* Vendors beside the first four: with a package of their own, or with OpenAI's wire at their own address. */

/** Opens models of a vendor, as each package exports a function for it. */
type CreateModels = (options: { readonly [name: string]: unknown }) => (model: string) => LanguageModelV4;

async function loadPackage<Module>(name: VendorPackage, folder: string): Promise<Module> {
  const { loadVendorPackage } = await import("./vendor-packages.ts");
  return loadVendorPackage(name, folder);
}

/** A vendor's server with OpenAI's chat completions, whose models do not all call tools. */
function compatibleVendor(name: string, url: string): Provider {
  const variable = name.toUpperCase();
  return {
    name,
    keys: [`${variable}_API_KEY`],
    address: `${variable}_BASE_URL`,
    path: "/v1",
    isMixed: true,
    open: (model, access) => openCompatible(model, { ...access, url: access.url ?? url }),
  };
}

/** A server on this machine with OpenAI's chat completions; it is used only when it is named. */
function localServer(name: string, usual: string): Provider {
  const address = `${name.toUpperCase()}_HOST`;
  return {
    name,
    keys: [],
    address,
    path: "/v1",
    local: {
      url: (host = usual) => baseUrl(host, "/v1", address),
      first: async (url) =>
        (await isListening(url, MODEL_LIMITS.reachMs)) ? firstListed(url, undefined).catch(() => undefined) : undefined,
    },
    isNamedOnly: true,
    open: openCompatible,
  };
}

const xai: Provider = {
  ...compatibleVendor("xai", ""),
  // Its chat completions lose the thinking; its Responses keep it.
  isMixed: false,
  providerOptions: { openai: { parallelToolCalls: false, store: false, forceReasoning: true } },
  open: (model, access) => openResponses(model, { ...access, url: access.url ?? "https://api.x.ai/v1" }),
};

const mistral: Provider = {
  name: "mistral",
  keys: ["MISTRAL_API_KEY"],
  address: "MISTRAL_BASE_URL",
  path: "/v1",
  providerOptions: { mistral: { parallelToolCalls: false } },
  shapePrompt: mistralPrompt,
  async open(model, { url, key, packages }) {
    const { createMistral } = await loadPackage<{ createMistral: CreateModels }>("@ai-sdk/mistral", packages);
    return createMistral({ apiKey: key, fetch: boundedFetch, ...(url && { baseURL: url }) })(model);
  },
};

const azure: Provider = {
  name: "azure",
  keys: ["AZURE_API_KEY"],
  address: "AZURE_BASE_URL",
  path: "/openai/v1",
  details: ["AZURE_RESOURCE_NAME"],
  optionsFor(deployment) {
    // A deployment has any name, by which its package does not know a model that thinks; all but the oldest do.
    const forceReasoning = !/gpt-?(?:3|4)/i.test(deployment);
    const options = { parallelToolCalls: false, store: false, forceReasoning };
    return { openai: options, azure: options };
  },
  async open(model, { url, key = "", packages, details }) {
    const { createAzure } = await loadPackage<{ createAzure: CreateModels }>("@ai-sdk/azure", packages);
    const place = url === undefined ? { resourceName: details["AZURE_RESOURCE_NAME"] } : { baseURL: url };
    // A token of Entra is a JWT and goes where tokens go; a key of the resource does not.
    const access = key.startsWith("eyJ") ? { tokenProvider: async () => key } : { apiKey: key };
    return createAzure({ ...access, fetch: boundedFetch, ...place })(model);
  },
};

const bedrock: Provider = {
  name: "bedrock",
  keys: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"],
  address: "BEDROCK_BASE_URL",
  path: "",
  isMixed: true,
  details: [
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
  ],
  async open(model, { url, key, source, packages, details }) {
    const { createAmazonBedrock } = await loadPackage<{ createAmazonBedrock: CreateModels }>(
      "@ai-sdk/amazon-bedrock",
      packages,
    );
    return createAmazonBedrock({
      region: details["AWS_REGION"],
      apiKey: details["AWS_BEARER_TOKEN_BEDROCK"],
      accessKeyId: details["AWS_ACCESS_KEY_ID"],
      secretAccessKey: details["AWS_SECRET_ACCESS_KEY"],
      sessionToken: details["AWS_SESSION_TOKEN"],
      ...(source && awsCredentials(key)),
      fetch: boundedFetch,
      ...(url && { baseURL: url }),
    })(model);
  },
};

const vertex: Provider = {
  name: "vertex",
  keys: ["GOOGLE_VERTEX_API_KEY"],
  account: "GOOGLE_VERTEX_PROJECT",
  address: "GOOGLE_VERTEX_BASE_URL",
  path: "/v1/publishers/google",
  details: ["GOOGLE_VERTEX_API_KEY", "GOOGLE_VERTEX_PROJECT", "GOOGLE_VERTEX_LOCATION"],
  async open(model, { url, key, source, packages, details }) {
    const { createGoogleVertex } = await loadPackage<{ createGoogleVertex: CreateModels }>(
      "@ai-sdk/google-vertex",
      packages,
    );
    return createGoogleVertex({
      apiKey: details["GOOGLE_VERTEX_API_KEY"],
      project: details["GOOGLE_VERTEX_PROJECT"],
      location: details["GOOGLE_VERTEX_LOCATION"],
      // A token that a file or a command gives stands in the place of the credentials of this machine.
      ...(source && { googleAuthOptions: { authClient: { getAccessToken: async () => ({ token: key }) } } }),
      fetch: boundedFetch,
      ...(url && { baseURL: url }),
    })(model);
  },
};

/** Credentials of AWS that a key holds: a bearer token, or the JSON of a `credential_process`. */
function awsCredentials(key = ""): { readonly [option: string]: unknown } {
  if (!key.startsWith("{")) return { apiKey: key };
  const { AccessKeyId, SecretAccessKey, SessionToken } = JSON.parse(key) as { readonly [name: string]: unknown };
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
}

/** The rows. */
export const MORE_PROVIDERS: readonly Provider[] = [
  mistral,
  azure,
  bedrock,
  vertex,
  xai,
  compatibleVendor("groq", "https://api.groq.com/openai/v1"),
  compatibleVendor("openrouter", "https://openrouter.ai/api/v1"),
  compatibleVendor("deepseek", "https://api.deepseek.com"),
  localServer("lmstudio", "http://127.0.0.1:1234"),
  localServer("vllm", "http://127.0.0.1:8000"),
];
