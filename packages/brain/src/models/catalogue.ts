/*
 * What is known of models, as their vendors publish it. A model that is not here works all the same: its window is learnt
 * when its server refuses a prompt.
 */

/** Facts about a model. */
interface ModelFacts {
  /** Tokens that a prompt and its reply may have together. */
  readonly window: number;
  /** The vendor refuses a request that forces a call of a tool. */
  readonly refusesForcedTools?: true;
}

const MILLION = 1_000_000;
const K = 1000;

/** The facts by the model's id at its vendor; a dated or tagged id begins with one of these. */
const CATALOGUE: { readonly [id: string]: ModelFacts } = {
  "claude-fable-5-1": {
    window: MILLION,
    refusesForcedTools: true,
  },
  "claude-opus-5-5": {
    window: MILLION,
    refusesForcedTools: true,
  },
  "claude-sonnet-5-5": {
    window: MILLION,
    refusesForcedTools: true,
  },
  "claude-haiku-5-5": { window: MILLION },
  "claude-opus-5": { window: MILLION },
  "gpt-6-astra": { window: 922 * K },
  "gpt-6.1-sol": { window: 922 * K },
  "gpt-6-luna": { window: MILLION },
  "gpt-5.6": { window: MILLION },
  "gemini-4-argon": { window: 1_048_576 },
  "gemini-3.8-flash": { window: MILLION },
  "grok-4.7": { window: 500 * K },
  "kimi-k3": { window: 1_048_576 },
  "glm-5.3": { window: 1_048_576 },
  "deepseek-v4-pro": { window: MILLION },
  "qwen3.8-max": { window: 991 * K },
  "MiniMax-M3": { window: 512 * K },
};

/** A date or tag behind a known id. */
const VERSION = /^[-@:](?:\d{4,}[\d-]*|latest|preview|[a-z]+-preview)$/;

/** The facts about a model by its id, which may carry a date or tag behind a known one; undefined when it is unknown. */
export function factsOf(id: string): ModelFacts | undefined {
  const known = Object.entries(CATALOGUE).find(
    ([name]) => id === name || (id.startsWith(name) && VERSION.test(id.slice(name.length))),
  );
  return known?.[1];
}
