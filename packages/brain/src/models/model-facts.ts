import type { ModelFacts } from "@vidro/core";
import type { Config } from "../config.ts";
import { factsOf } from "./catalogue.ts";

/**
 * What is known of a model: the settings for every model go before `model_facts` for this one, those before what its
 * server says, that before the catalogue.
 */
export function modelFacts(model: string, config: Config, server: ModelFacts = {}): ModelFacts {
  return { ...factsOf(model), ...server, ...config.get("model_facts")?.[model], ...settingsFacts(config) };
}

/** What the settings say of every model. */
export function settingsFacts(config: Config): ModelFacts {
  const [window, answer, price] = [config.get("model_window"), config.get("model_answer"), config.get("model_price")];
  return {
    ...(window === undefined ? {} : { window }),
    ...(answer === undefined ? {} : { answer }),
    ...(price === undefined ? {} : { prices: [price] }),
  };
}
