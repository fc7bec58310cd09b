import type { Config } from "../../config.ts";
import { SEARCH_SERVICES, webSearchBy } from "./services.ts";
import type { WebSearch } from "./web-search.ts";

/** The service that the settings name: an address without a name is that of a SearXNG server; undefined without one. */
export function chooseSearch(config: Config): WebSearch | undefined {
  const keys = { searxng: undefined, brave: config.get("brave_api_key"), tavily: config.get("tavily_api_key") };
  const url = config.get("search_url");
  const keyed = keys.brave === undefined ? (keys.tavily === undefined ? undefined : "tavily") : "brave";
  const name = config.get("search") ?? (url === undefined ? keyed : "searxng");
  if (name === undefined) return undefined;
  const address = url ?? SEARCH_SERVICES[name].url;
  return address === undefined ? undefined : webSearchBy(name, { url: address, key: keys[name] });
}
