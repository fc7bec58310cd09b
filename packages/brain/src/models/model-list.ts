import { MODEL_LIMITS } from "@vidro/core";
import type { ModelFacts } from "@vidro/core";
import type { Config } from "../config.ts";
import { isListening, listedModels } from "./address.ts";
import { factsOf, KNOWN_MODELS } from "./catalogue.ts";
import { accessTo, chooseModel, keyOf, serverAt } from "./choose.ts";
import type { ModelServer } from "./served-model.ts";
import { modelFacts, settingsFacts } from "./model-facts.ts";
import type { Provider } from "./provider.ts";
import { PROVIDERS } from "./providers.ts";
import { windowAt } from "./server-window.ts";

/* What `vidro models` tells of models: which there are, what is known of each and from where. */

/** A model of a list. */
export interface ModelRow {
  /** As `--model` takes it. */
  readonly name: string;
  readonly facts: ModelFacts;
  /** What has to be set before it can be used; absent when it can be. */
  readonly needs?: string;
  /** The server that lists it, where it is not a vendor's own. */
  readonly url?: string;
}

/** One fact about a model, and where it comes from. */
export interface FactRow {
  readonly fact: keyof ModelFacts;
  readonly value: unknown;
  readonly from: string;
}

/** All that is known of a model. */
export interface ModelPage {
  readonly name: string;
  readonly because: string;
  readonly facts: readonly FactRow[];
  /** Its servers, where they are not a vendor's own, and whether they listen. */
  readonly servers: readonly { readonly url: string; readonly listens: boolean }[];
}

/** The models of the catalogue, and those that servers on this machine or at VIDRO_MODEL_URL list. */
export async function listModels(config: Config): Promise<readonly ModelRow[]> {
  const known = Object.keys(KNOWN_MODELS).map((id) => knownRow(id, config));
  const lists = await Promise.all(serversOf(config).map((server) => servedRows(server, config)));
  return [...lists.flat(), ...known, { name: "offline", facts: {} }];
}

/** The facts about a model, or about the one that would be chosen; a Fault when it cannot be used. */
export async function describeModel(config: Config, name?: string): Promise<ModelPage> {
  const chosen = await chooseModel(config, name);
  // A chain is described by the model that is asked first.
  const [first = ""] = chosen.name.split(",");
  const id = idOf(first);
  const [url] = chosen.servers;
  const general = serverAt(config);
  // Its key belongs to that server alone.
  const key = general?.url === url ? await keyOf(general ?? {}).catch(() => undefined) : undefined;
  const window =
    url?.startsWith("http") === true ? await windowAt({ url, model: id, ...(key ? { key } : {}) }) : undefined;
  const server: ModelFacts = window === undefined ? {} : { window };
  const looks = chosen.servers.map(async (one) => ({
    url: one,
    listens: await isListening(one, MODEL_LIMITS.reachMs),
  }));
  return {
    name: chosen.name,
    because: name === undefined ? chosen.because : "it was named",
    facts: factRows(id, config, { facts: server, url: url ?? "" }),
    servers: await Promise.all(looks),
  };
}

/** The id of a model at its provider. */
function idOf(name: string): string {
  const [prefix = "", ...rest] = name.split("/");
  return PROVIDERS.some((provider) => provider.name === prefix) ? rest.join("/") : name;
}

function knownRow(id: string, config: Config): ModelRow {
  const facts = modelFacts(id, config);
  const provider = PROVIDERS.find(({ name }) => name === facts.vendor);
  if (provider === undefined) return { name: id, facts, needs: "a server that has it: VIDRO_MODEL_URL" };
  const needs = accessTo(provider, config) === undefined ? { needs: provider.keys.join(" or ") } : {};
  return { name: `${provider.name}/${id}`, facts, ...needs };
}

/** Servers that may list models: those of this machine, and that of VIDRO_MODEL_URL. */
function serversOf(config: Config): readonly (ModelServer & { readonly provider?: Provider })[] {
  const local = PROVIDERS.flatMap((provider) => {
    const url = provider.local === undefined ? undefined : accessTo(provider, config)?.url;
    return url === undefined ? [] : [{ url, provider }];
  });
  const server = serverAt(config);
  return server === undefined ? local : [server, ...local];
}

async function servedRows(
  { url, key, provider }: ModelServer & { readonly provider?: Provider },
  config: Config,
): Promise<readonly ModelRow[]> {
  if (!(await isListening(url, MODEL_LIMITS.probeMs))) return [];
  // A server with one model is named by its provider alone.
  if (provider?.single === true) {
    const isThere = (await provider.local?.first(url)) !== undefined;
    return isThere ? [{ name: provider.name, facts: {}, url }] : [];
  }
  const names = await listedModels(url, key).catch(() => []);
  const prefix = provider === undefined ? "" : `${provider.name}/`;
  return names.map((name) => ({ name: `${prefix}${name}`, facts: modelFacts(name, config), url }));
}

function factRows(
  id: string,
  config: Config,
  server: { readonly facts: ModelFacts; readonly url: string },
): readonly FactRow[] {
  const sources: readonly (readonly [ModelFacts, string])[] = [
    [settingsFacts(config), "settings"],
    [config.get("model_facts")?.[id] ?? {}, "model_facts"],
    [server.facts, server.url],
    [factsOf(id) ?? {}, "catalogue"],
  ];
  return Object.entries(modelFacts(id, config, server.facts)).map(([name, value]) => {
    const fact = name as keyof ModelFacts;
    return { fact, value, from: sources.find(([facts]) => facts[fact] !== undefined)?.[1] ?? "" };
  });
}
