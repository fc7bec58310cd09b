import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault, MODEL_LIMITS, asFault } from "@vidro/core";
import { DIRECT } from "@vidro/core/run";
import type { Model } from "@vidro/core";
import type { Config } from "../config.ts";
import { baseUrl, firstListed, isListening } from "./address.ts";
import { chain } from "./chain.ts";
import { directModel } from "./direct.ts";
import { callInFormat } from "./held-format.ts";
import { keySourceOf } from "./key-source.ts";
import { offlineModel } from "./offline.ts";
import { FREE, withPrices } from "./price.ts";
import { PROVIDERS } from "./providers.ts";
import type { ModelServer, PlacedModel } from "./served-model.ts";
import type { Access, Provider } from "./provider.ts";
import { unknownModel } from "./unknown-model.ts";

/** A model, and why it is this one. */
export interface ChosenModel extends Model {
  readonly because: string;
  /** Base URLs of its servers, where they are not a vendor's own. */
  readonly servers: readonly string[];
}

/** Result of `chooseModel` as text. */
interface Choice extends Pick<ChosenModel, "name" | "because"> {
  /** Whether each of its servers listens; vendors are not called for that. */
  readonly servers: readonly { readonly url: string; readonly listens: boolean }[];
}

/**
 * The model of that name, otherwise the configured one, otherwise the first available; a Fault when the configured one
 * is not available.
 */
export async function chooseModel(config: Config, name = ""): Promise<ChosenModel> {
  const asked = name === "" ? config.get("model") : name;
  if (asked === undefined)
    return (await atUrl(config)) ?? (await byKey(config)) ?? (await onThisMachine(config)) ?? offline();
  const names = asked.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
  if (names.length === 0) throw unknownModel(asked);
  const models = await Promise.all(names.map((one) => byName(one, config)));
  return withReason(chain(models), "VIDRO_MODEL says so", models);
}

/** The model that would be chosen, the reason, and whether its servers can be reached now. */
export async function describeChoice(config: Config): Promise<Choice> {
  const { name, because, servers } = await chooseModel(config);
  const looks = servers.map(async (url) => ({ url, listens: await isListening(url, MODEL_LIMITS.reachMs) }));
  return { name, because, servers: await Promise.all(looks) };
}

async function byName(name: string, config: Config): Promise<PlacedModel> {
  if (name === "offline") return offline();
  if (name === DIRECT) return withPrices(directModel(), FREE);
  const [, prefix, model] = /^([^/]*)\/?(.*)$/.exec(name) ?? [];
  const provider = PROVIDERS.find((one) => one.name === prefix);
  const access = provider && accessTo(provider, config);
  // Gateways also use names such as `openai/gpt-5`: it is the vendor's model only with access to the vendor.
  if (provider !== undefined && access !== undefined) {
    return vendorModel(provider, model || (provider.model ?? (await usualModel(provider, access))), { access, config });
  }
  const server = serverAt(config);
  if (server !== undefined) return compatibleModel(name, server, config);
  if (provider === undefined) throw unknownModel(name);
  throw new Fault("MODEL_KEY_MISSING", `${name} needs a key: set ${provider.keys.join(" or ")}.`);
}

async function atUrl(config: Config): Promise<ChosenModel | undefined> {
  const server = serverAt(config);
  if (server === undefined) return undefined;
  const first = await firstListed(server.url, await keyOf(server)).catch((thrown: unknown) => {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault("MODEL_UNAVAILABLE", `Nothing at ${server.url} lists models: ${asFault(thrown).message}`);
  });
  if (first === undefined) throw new Fault("MODEL_UNKNOWN", `${server.url} lists no model: name one by VIDRO_MODEL.`);
  return withReason(await compatibleModel(first, server, config), `it is the first that ${server.url} lists`);
}

async function byKey(config: Config): Promise<ChosenModel | undefined> {
  for (const provider of PROVIDERS) {
    const named = [...provider.keys, ...(provider.account === undefined ? [] : [provider.account])];
    const name = named.find((key) => config.ofVariable(key) !== undefined);
    const access = name === undefined ? undefined : accessTo(provider, config);
    if (access === undefined || provider.model === undefined) continue;
    return withReason(await vendorModel(provider, provider.model, { access, config }), `${name} is set`);
  }
  return undefined;
}

async function onThisMachine(config: Config): Promise<ChosenModel | undefined> {
  for (const provider of PROVIDERS.filter(({ isNamedOnly }) => isNamedOnly !== true)) {
    const access = accessTo(provider, config);
    const first = access?.url === undefined ? undefined : await provider.local?.first(access.url);
    if (access === undefined || first === undefined) continue;
    const what = provider.single === true ? `a ${provider.name} answers` : `it is the first that ${provider.name} has`;
    return withReason(await vendorModel(provider, first, { access, config }), `${what} at ${access.url}`);
  }
  return undefined;
}

function offline(): ChosenModel {
  return withReason(
    withPrices(offlineModel(), FREE),
    "no key, no address and no server on this machine offers a model",
  );
}

async function usualModel(provider: Provider, { url = "" }: Access): Promise<string> {
  if (provider.local === undefined)
    throw new Fault("MODEL_UNKNOWN", `Name a model of ${provider.name}: ${provider.name}/<model>.`);
  const model = await provider.local.first(url);
  if (model !== undefined) return model;
  throw new Fault("MODEL_UNAVAILABLE", `${provider.name} shows no model at ${url}: start it there and give it one.`);
}

/** The adapter for servers is loaded with the first model that is on one: a run with the built-in model needs none of it. */
async function vendorModel(
  provider: Provider,
  model: string,
  { access, config }: { readonly access: Access; readonly config: Config },
): Promise<PlacedModel> {
  const { openVendorModel } = await import("./served-model.ts");
  return openVendorModel(provider, model, { access, config });
}

async function compatibleModel(name: string, server: ModelServer, config: Config): Promise<PlacedModel> {
  const { openCompatibleModel } = await import("./served-model.ts");
  return openCompatibleModel(name, server, config);
}

/** Access to a provider; undefined when its key is missing. */
export function accessTo(provider: Provider, config: Config): Access | undefined {
  const address = config.ofVariable(provider.address);
  const more = { packages: packagesFolder(config), details: detailsOf(provider, config) };
  if (provider.local !== undefined) return { url: provider.local.url(address), ...more };
  // The general key belongs to the general base URL, where there is one.
  const hasGeneral = config.get("model_url") === undefined;
  const general = hasGeneral ? ["VIDRO_MODEL_KEY"] : [];
  const key = [...provider.keys, ...general]
    .map((name) => config.ofVariable(name))
    .find((value) => value !== undefined);
  const url = address === undefined ? {} : { url: baseUrl(address, provider.path, provider.address) };
  if (key !== undefined) return { key, ...url, ...more };
  const source = hasGeneral ? keySourceOf(config) : undefined;
  if (source !== undefined) return { source, ...url, ...more };
  if (provider.account !== undefined && config.ofVariable(provider.account) !== undefined) return { ...url, ...more };
  return address !== undefined && provider.keyless === true ? { ...url, ...more } : undefined;
}

/** Folder of the packages of vendors. */
function packagesFolder(config: Config): string {
  return config.get("vendor_packages") ?? join(config.get("home") ?? tmpdir(), "vendors");
}

function detailsOf({ details = [] }: Provider, config: Config): Access["details"] {
  return Object.fromEntries(details.map((variable) => [variable, config.ofVariable(variable)]));
}

/** The server of VIDRO_MODEL_URL; undefined when there is none. */
export function serverAt(config: Config): ModelServer | undefined {
  const address = config.get("model_url");
  if (address === undefined) return undefined;
  const key = config.get("model_key");
  const source = keySourceOf(config);
  return {
    url: baseUrl(address, "/v1", "VIDRO_MODEL_URL"),
    ...(key === undefined ? {} : { key }),
    ...(source === undefined ? {} : { source }),
  };
}

/** The key of a server as it is now. */
export async function keyOf({ key, source }: Pick<ModelServer, "key" | "source">): Promise<string | undefined> {
  return key ?? (await source?.current());
}

function withReason(model: PlacedModel, because: string, placed: readonly PlacedModel[] = [model]): ChosenModel {
  const servers = placed.flatMap(({ url }) => url ?? []);
  return { ...model, because, servers, call: (request, signal) => callInFormat(model, request, signal) };
}
