import type { ModelFacts } from "@vidro/core";
import CATALOGUE from "./catalogue.json" with { type: "json" };

/*
 * What is known of models, as their vendors publish it; a price that no vendor publishes in dollars is left out. A model
 * that is not here works all the same: its window is asked from its server, or learnt when the server refuses a prompt.
 */

/** A date or tag behind a known id. */
const VERSION = /^[-@:](?:\d{4,}[\d-]*|latest|preview|[a-z]+-preview)$/;

/** All models that are known, by their ids at their vendors. */
export const KNOWN_MODELS: { readonly [id: string]: ModelFacts } = CATALOGUE;

/**
 * The facts about a model by its id, which may carry a date or tag behind a known one, and the name of its maker before
 * it, as gateways write it; undefined when it is unknown.
 */
export function factsOf(id: string): ModelFacts | undefined {
  const bare = id.slice(id.lastIndexOf("/") + 1);
  const known = Object.entries(KNOWN_MODELS).find(
    ([name]) => bare === name || (bare.startsWith(name) && VERSION.test(bare.slice(name.length))),
  );
  return known?.[1];
}
