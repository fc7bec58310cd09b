import type { Model } from "@vidro/core";
import type { Config } from "../config.ts";
import { aiSdkModel } from "./ai-sdk.ts";
import type { CallDeadlines } from "./call-deadline.ts";
import { modelFacts } from "./model-facts.ts";
import { openCompatible } from "./open-model.ts";
import { FREE, withPrices } from "./price.ts";
import type { Access, Provider } from "./provider.ts";
import { windowAt } from "./server-window.ts";

/** A model, and the base URL of its server where that is not a vendor's own. */
export interface PlacedModel extends Model {
  readonly url?: string;
}

/** A server given by its URL. */
export type ModelServer = Pick<Access, "key" | "source"> & { readonly url: string };

/** A vendor's model by its adapter; its package is loaded at the first call. */
export function openVendorModel(
  provider: Provider,
  model: string,
  { access, config }: { readonly access: Access; readonly config: Config },
): PlacedModel {
  const facts = modelFacts(model, config, provider.local === undefined ? {} : { prices: FREE });
  const providerOptions = provider.optionsFor?.(model) ?? provider.providerOptions;
  const opened = aiSdkModel({
    name: model === "" ? provider.name : `${provider.name}/${model}`,
    load: (key) => provider.open(model, key === undefined ? access : { ...access, key }),
    ...(access.key === undefined ? {} : { key: access.key }),
    ...(access.source === undefined ? {} : { source: access.source }),
    ...(provider.shapePrompt === undefined ? {} : { shapePrompt: provider.shapePrompt }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    // Another address may serve any model; those of the vendor itself all call tools.
    ...(access.url === undefined && provider.isMixed !== true ? { native: true } : {}),
    ...(facts.refusesForcedTools === true ? { refusesForcedTools: true } : {}),
    ...(facts.showsThinking === true ? { showsThinking: true } : {}),
    ...(facts.images === true ? { images: provider.images ?? "from-user" } : {}),
    ...((facts.pdfs ?? (facts.images === true && carriesPdfs(provider, access))) ? { pdfs: true } : {}),
    ...longestAnswer(model, config),
    ...patience(config),
    ...(facts.window === undefined ? {} : { window: facts.window }),
    ...(access.url?.startsWith("http") === true ? { askWindow: () => askWindow(model, access as ModelServer) } : {}),
  });
  const costed = withPrices(opened, facts.prices);
  return access.url === undefined ? costed : { ...costed, url: access.url };
}

function carriesPdfs({ pdfs }: Provider, { url }: Access): boolean {
  return pdfs === "everywhere" || (pdfs === "at-vendor" && url === undefined);
}

/** A model of a server with OpenAI's chat completions. */
export function openCompatibleModel(name: string, server: ModelServer, config: Config): PlacedModel {
  const { url, key, source } = server;
  const { window, prices, images, pdfs } = modelFacts(name, config);
  const model = aiSdkModel({
    name,
    load: (read = key) => openCompatible(name, { url, ...(read === undefined ? {} : { key: read }) }),
    ...(key === undefined ? {} : { key }),
    ...(source === undefined ? {} : { source }),
    ...longestAnswer(name, config),
    ...patience(config),
    ...(images === true ? { images: "from-user" } : {}),
    ...(pdfs === true ? { pdfs } : {}),
    ...(window === undefined ? {} : { window }),
    askWindow: () => askWindow(name, server),
  });
  return { ...withPrices(model, prices), url };
}

async function askWindow(model: string, { url, key, source }: ModelServer): Promise<number | undefined> {
  const read = key ?? (await source?.current());
  return windowAt({ model, url, ...(read === undefined ? {} : { key: read }) });
}

/** The bound of a setting on replies; what a vendor's model can do at most is left to the vendor. */
function longestAnswer(model: string, config: Config): { readonly answer?: number } {
  const answer = config.get("model_answer") ?? config.get("model_facts")?.[model]?.answer;
  return answer === undefined ? {} : { answer };
}

function patience(config: Config): Partial<CallDeadlines> {
  const ms = config.get("model_timeout_ms");
  return ms === undefined ? {} : { firstTokenMs: ms, betweenTokensMs: ms };
}
